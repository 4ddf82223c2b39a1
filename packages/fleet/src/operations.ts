import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '@troupe/db';
import { AppError, newId, type Log } from '@troupe/kernel';

/**
 * One action at a time for each agent, over all processes. A lease in a row, not a lock of the database: a lock would
 * hold a connection while an engine pulls an image, and a few dozen waiting for it would leave none for the one that works.
 */
export interface Operations {
  /** Does the work while nobody else acts on the agent. It may be done again by `redo` when this process dies. */
  run: <T>(agentId: string, action: string, work: (turn: Turn) => Promise<T>) => Promise<T>;
  /** Takes over what processes that died have left; answers how many. */
  recover: () => Promise<number>;
}

export interface Turn {
  /** From now on this is what has to be done again when the process dies. */
  become: (action: string) => Promise<void>;
  /** Leaves the rest of the action to be done later, by whoever recovers next. */
  later: () => void;
}

export interface OperationsDeps {
  db: Database;
  log: Log;
  redo: (agentId: string, action: string, turn: Turn) => Promise<void>;
  leaseMs?: number;
  waitMs?: number;
}

const LEASE_MS = 15_000;
const WAIT_MS = 20_000;
const POLL_MS = 40;

/** The leases, as rows. */
function createRows(db: Database, leaseMs: number) {
  const until = sql<Date>`clock_timestamp() + make_interval(secs => ${leaseMs / 1000})`;
  return {
    async take(agentId: string, action: string, owner: string): Promise<boolean> {
      const taken = await sql`insert into agent_operations (agent_id, action, owner, lease_until)
        values (${agentId}, ${action}, ${owner}, ${until}) on conflict do nothing returning agent_id`.execute(
        db.system,
      );
      return taken.rows.length > 0;
    },
    async rename(agentId: string, owner: string, action: string): Promise<boolean> {
      const { rows } = await sql`update agent_operations set action = ${action}
        where agent_id = ${agentId} and owner = ${owner} returning agent_id`.execute(db.system);
      return rows.length > 0;
    },
    renew: (agentId: string, owner: string) =>
      sql`update agent_operations set lease_until = ${until} where agent_id = ${agentId} and owner = ${owner}`.execute(
        db.system,
      ),
    letGo: (agentId: string, owner: string) =>
      sql`delete from agent_operations where agent_id = ${agentId} and owner = ${owner}`.execute(db.system),
    /** The lease of one that ran out, taken over. */
    async takeOver(owner: string, agentId?: string): Promise<{ agent_id: string; action: string } | undefined> {
      const { rows } = await sql<{ agent_id: string; action: string }>`
        update agent_operations set owner = ${owner}, lease_until = ${until} where agent_id = (
          select agent_id from agent_operations where lease_until < clock_timestamp()
            and (${agentId ?? null}::text is null or agent_id = ${agentId ?? null}) limit 1 for update skip locked)
        returning agent_id, action`.execute(db.system);
      return rows[0];
    },
  };
}

const busy = (): AppError => new AppError(409, 'Another action is going on for this agent');

export function createOperations({ db, log, redo, leaseMs = LEASE_MS, waitMs = WAIT_MS }: OperationsDeps): Operations {
  const rows = createRows(db, leaseMs);

  /** Keeps the lease while the work goes on, and lets it go at the end, however that comes. */
  async function hold<T>(agentId: string, owner: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    let isLeft = false;
    const turn: Turn = {
      async become(action) {
        if (!(await rows.rename(agentId, owner, action))) throw busy();
      },
      later: () => void (isLeft = true),
    };
    const renew = () =>
      rows
        .renew(agentId, owner)
        .catch((err: unknown) => log.warn({ err, agentId }, 'the lease of an action could not be renewed'));
    const timer = setInterval(() => void renew(), leaseMs / 3);
    try {
      return await work(turn);
    } finally {
      clearInterval(timer);
      if (!isLeft) await rows.letGo(agentId, owner);
    }
  }

  async function recoverOne(agentId?: string): Promise<boolean> {
    const owner = newId();
    const left = await rows.takeOver(owner, agentId);
    if (!left) return false;
    log.info({ agentId: left.agent_id, action: left.action }, 'an interrupted action is done again');
    await hold(left.agent_id, owner, (turn) => redo(left.agent_id, left.action, turn)).catch((err: unknown) =>
      log.error({ err, agentId: left.agent_id, action: left.action }, 'an interrupted action failed again'),
    );
    return true;
  }

  return {
    async run(agentId, action, work) {
      const owner = newId();
      const deadline = Date.now() + waitMs;
      while (!(await rows.take(agentId, action, owner))) {
        if (Date.now() > deadline) throw busy();
        if (!(await recoverOne(agentId))) await delay(POLL_MS + Math.random() * POLL_MS);
      }
      return hold(agentId, owner, work);
    },
    async recover() {
      let done = 0;
      while (await recoverOne()) done += 1;
      return done;
    },
  };
}
