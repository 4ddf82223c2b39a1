import { setTimeout as delay } from 'node:timers/promises';
import { raiseNotice } from '@troupe/accounts';
import { agentChanged, agentRethinks } from '@troupe/contract';
import { notify, type Blobs, type Database, type SystemTx } from '@troupe/db';
import { FREE_PLAN, isPlan } from '@troupe/domain';
import { AppError, newId, type Clock, type Log } from '@troupe/kernel';
import { createBackups, type BackupRow, type Backups } from './backups.ts';
import type { Driver, Placement } from './driver.ts';
import { createOperations, type Turn } from './operations.ts';
import { type AgentRow, type AllAgents, LimitReached } from '@troupe/roster';

export interface Updated {
  image: string;
  previousImage: string;
  backupPath: string;
  agent: AgentRow;
}

const ABANDONED_MS = 60_000;
const SETTLE_MS = 1500;
const LOST = 'The agent’s container is not running';
/** The action of a restore that has begun to change something; the backup's id follows. */
const RESTORE = 'restore ';
const ROTATE = 'rotate';
/** Actions that have changed nothing yet, but may have held the agent still. */
const COPIES = new Set(['backup', 'restore', 'delete-backup', 'look']);

/** The lives of agents: each action at most once at a time, and finished by another process when this one dies. */
export interface Fleet {
  readonly driver: Driver;
  /** Makes it run. Whether it ran before is told by `was`. */
  start: (agent: AgentRow) => Promise<{ agent: AgentRow; was: string; placement: Placement }>;
  stop: (agent: AgentRow) => Promise<AgentRow>;
  restart: (agent: AgentRow) => Promise<AgentRow>;
  update: (agent: AgentRow, image?: string) => Promise<Updated>;
  repair: (agent: AgentRow) => Promise<AgentRow>;
  /** A new gateway token, in force when this answers, also inside of what runs; `record` is part of its transaction. */
  rotateToken: (agent: AgentRow, record: (tx: SystemTx) => Promise<void>) => Promise<string>;
  /** Ends what still runs of an agent whose row says that it is stopped. */
  settle: (agentId: string) => Promise<void>;
  resetMemory: (agent: AgentRow) => Promise<void>;
  remove: (agent: AgentRow) => Promise<void>;
  readonly backups: Pick<Backups, 'list' | 'get' | 'read'>;
  backUp: (agent: AgentRow) => Promise<BackupRow>;
  /** Puts it back to a backup, and tells which one holds what it was before. */
  restore: (agent: AgentRow, backupId: string) => Promise<{ agent: AgentRow; safety: BackupRow }>;
  deleteBackup: (agent: AgentRow, backupId: string) => Promise<void>;
  /** Its row has another plan or provider: every process takes that over at once, running work too. */
  rethink: (agentId: string) => Promise<void>;
  /** The agent that a signal is about; undefined: this process told it. */
  heard: (told: { from: string; agentId: string }) => string | undefined;
  /** Takes up what is due: actions and work that processes which died have left. */
  recover: () => Promise<void>;
}

export interface FleetDeps {
  db: Database;
  roster: AllAgents;
  driver: Driver;
  clock: Clock;
  log: Log;
  /** Backups are kept in it, unless there are blobs. */
  dataDir: string;
  blobs?: Blobs | undefined;
  version: string;
  leaseMs?: number;
}

export function createFleet(deps: FleetDeps): Fleet {
  const { db, roster, driver, clock, log, leaseMs } = deps;
  const backups = createBackups(deps);
  const operations = createOperations({ db, log, redo, ...(leaseMs !== undefined && { leaseMs }) });

  const self = newId();
  const tell = (agentId: string, what = agentChanged): Promise<void> =>
    notify(db.system, what, { from: self, agentId });

  /** The newest row: what was read before the wait for our turn may be old. */
  const serially = <T>(agent: AgentRow, action: string, work: (now: AgentRow, turn: Turn) => Promise<T>): Promise<T> =>
    operations.run(agent.id, action, async (turn) => work(await roster.get(agent.id), turn));

  const notice = (agent: AgentRow, message: string): Promise<unknown> =>
    db.asSystem((tx) =>
      raiseNotice(
        tx,
        {
          userId: agent.user_id,
          kind: 'agent_failed',
          subject: agent.id,
          message: `${agent.name} failed: ${message}`,
          link: `/dashboard/agents/${agent.id}`,
        },
        clock(),
      ),
    );

  async function fail(agent: AgentRow, error: unknown): Promise<never> {
    const message = error instanceof AppError ? error.message : 'The agent could not be started';
    log.error({ err: error, agentId: agent.id }, 'an agent could not be started');
    await roster.change(agent.id, { status: agent.team_id ? 'failed' : 'error', failure: message });
    await notice(agent, message);
    throw error instanceof AppError ? error : new AppError(500, message, {}, { cause: error });
  }

  async function bringUp(agent: AgentRow): Promise<{ agent: AgentRow; placement: Placement }> {
    const placement = await driver.start(agent).catch((error: unknown) => fail(agent, error));
    const goesOn = agent.status === 'running' && agent.started_at !== null;
    const changed = await roster.change(agent.id, {
      status: placement.deploying ? 'provisioning' : 'running',
      failure: null,
      image: placement.image,
      runtime_version: placement.version,
      ...(goesOn ? {} : { started_at: clock() }),
    });
    return { agent: changed, placement };
  }

  /** Another start time, so that it counts as started anew. */
  const fresh = (agent: AgentRow): AgentRow => ({ ...agent, started_at: null });

  /** What runs elsewhere may end, or come back, without us. The row tells the truth about both. */
  async function lookAround(): Promise<void> {
    if (!driver.alive) return;
    const alive = await driver.alive();
    if (!alive) return;
    const rows = await db.system
      .selectFrom('agents')
      .selectAll()
      .where('driver', 'is', null)
      .where((where) =>
        where.or([
          where('status', '=', 'running'),
          where('failure', '=', LOST),
          where.and([where('status', '=', 'stopped'), where('id', 'in', [...alive, ''])]),
        ]),
      )
      .execute();
    const wrong = ({ id, status, failure }: AgentRow, now: ReadonlySet<string>): boolean =>
      status === 'running' ? !now.has(id) : (status === 'stopped' || failure === LOST) && now.has(id);
    const suspects = rows.filter((row) => wrong(row, alive));
    // Between an end and the engine's own new start lies a moment.
    if (suspects.length > 0) await delay(SETTLE_MS);
    for (const agent of suspects)
      await serially(agent, 'look', async (now) => {
        const still = await driver.alive?.();
        if (!still || !wrong(now, still)) return;
        log.warn({ agentId: now.id, status: now.status }, 'an agent does not run as its row says');
        if (now.status === 'stopped') return takeDown(now);
        if (now.status !== 'running') return void (await roster.change(now.id, { status: 'running', failure: null }));
        await roster.change(now.id, { status: now.team_id ? 'failed' : 'error', failure: LOST });
        await notice(now, LOST);
      }).catch((err: unknown) => log.warn({ err, agentId: agent.id }, 'an agent could not be looked at'));
  }

  async function takeDown(agent: AgentRow): Promise<void> {
    await driver.stop(agent);
    await tell(agent.id);
  }

  /** Does what makes it run, within the plan: whoever did not count is counted first, or nothing is done. */
  async function guarded<T>(agent: AgentRow, work: () => Promise<T>): Promise<T> {
    if (!isPlan(agent.plan)) throw new AppError(FREE_PLAN.status, FREE_PLAN.message, { code: 'PAYMENT_REQUIRED' });
    const isAdmitted = await roster.admit(agent).catch((error: unknown) => {
      if (!(error instanceof LimitReached)) throw error;
      const { current, limit } = error;
      throw new AppError(402, error.message, { code: 'AGENT_LIMIT_REACHED', current, limit });
    });
    try {
      return await work();
    } catch (error) {
      if (isAdmitted) await roster.dismiss(agent);
      throw error;
    }
  }

  /** For everybody it is gone with its rows; what an engine that is away still has goes when it is back. */
  async function removeNow(agent: AgentRow, turn: Turn): Promise<void> {
    await driver.hush?.(agent.id);
    // The rows first: whatever still works for it finds nothing to write to.
    await roster.delete(agent.id);
    await clearAway(agent, turn);
    await tell(agent.id);
  }

  async function clearAway(agent: Parameters<Driver['remove']>[0], { later }: Turn): Promise<void> {
    await backups.removeAll(agent.id);
    await driver.remove(agent).catch((err: unknown) => {
      log.warn({ err, agentId: agent.id }, 'a removed agent is cleared away later');
      later();
    });
  }

  async function stopNow(agent: AgentRow): Promise<AgentRow> {
    const stopped = await roster.change(agent.id, { status: 'stopped', started_at: null });
    await takeDown(agent);
    return stopped;
  }

  async function again(agent: AgentRow): Promise<AgentRow> {
    await takeDown(agent);
    return (await bringUp(fresh(agent))).agent;
  }

  async function rotateNow(agent: AgentRow, record: (tx: SystemTx) => Promise<void>): Promise<string> {
    const token = await roster.newToken(agent, record);
    const isInside = agent.driver === 'hosting' || driver.holdsToken === true;
    if (isInside && agent.status === 'running') await again(await roster.get(agent.id));
    return token;
  }

  async function updateNow(agent: AgentRow, given?: string): Promise<Updated> {
    const previousImage = agent.image ?? driver.image;
    const image = given ?? driver.image;
    const backupPath = backups.nameOf(await backups.make(agent, 'update'));
    await backups.prune(agent);
    try {
      const refused = driver.refuses?.(image);
      if (refused !== undefined) throw new AppError(500, refused);
      await takeDown(agent);
      const placement = await driver.start({ ...agent, image });
      const changed = await roster.change(agent.id, {
        status: 'running',
        failure: null,
        image,
        runtime_version: placement.version,
        started_at: clock(),
      });
      return { image, previousImage, backupPath, agent: changed };
    } catch (error) {
      log.error({ err: error, agentId: agent.id, image }, 'an update failed; the previous image comes back');
      const why = error instanceof AppError ? error.message : 'the new image did not start';
      await bringUp(fresh(agent)).catch((cause: unknown) => {
        const still = cause instanceof AppError ? cause.message : 'it did not start';
        throw new AppError(500, `Update failed: ${why}. The previous image could not be started: ${still}`, {
          backupPath,
        });
      });
      throw new AppError(500, `Update failed, the previous image is running again: ${why}`, { backupPath });
    }
  }

  async function restoreNow(agent: AgentRow, backupId: string, { become }: Turn) {
    const backup = await backups.get(agent, backupId);
    await backups.check(backup);
    const safety = await backups.make(agent, 'restore');
    await become(`${RESTORE}${backupId}`);
    try {
      const restored = await putBack(agent, backup);
      await backups.prune(agent, backupId);
      return { agent: restored, safety };
    } catch (error) {
      log.error({ err: error, agentId: agent.id, backupId }, 'a restore failed; what was there before comes back');
      await putBack(agent, safety);
      const why = error instanceof AppError ? error.message : 'the backup could not be read';
      throw new AppError(500, `Restore failed, the agent is as it was: ${why}`, {}, { cause: error });
    }
  }

  /** It runs afterwards if it did before. */
  async function putBack(agent: AgentRow, backup: BackupRow): Promise<AgentRow> {
    await takeDown(agent);
    await backups.use(backup, (file) => driver.restore(agent, file));
    const changed = await roster.revert(agent, backups.settingsOf(backup));
    if (changed.status !== 'running') return changed;
    const { agent: running } = await bringUp(fresh(changed));
    await driver.configure(running, await roster.definition(running));
    return running;
  }

  /** Made by a web process that died, or lost its way, before the backend heard of them. */
  const abandoned = (): Promise<AgentRow[]> => roster.abandoned(new Date(clock().getTime() - ABANDONED_MS));

  /** What a process that died was doing. The row still says the old image, so an update that was cut short is undone. */
  async function redo(agentId: string, action: string, turn: Turn): Promise<void> {
    const agent = await roster.find(agentId);
    await backups.sweep(agentId, agent?.user_id);
    if (!agent) return clearAway({ id: agentId }, turn);
    if (action === 'remove') return removeNow(agent, turn);
    if (action === 'stop') return void (await stopNow(agent));
    if (action === 'reset-memory') return driver.reset(agent);
    if (action === ROTATE) return agent.status === 'running' ? void (await again(agent)) : undefined;
    if (action.startsWith(RESTORE)) {
      const backup = await backups.get(agent, action.slice(RESTORE.length));
      await backups.check(backup);
      return void (await putBack(agent, backup));
    }
    if (COPIES.has(action)) return agent.status === 'running' ? void (await bringUp(agent)) : undefined;
    await again(agent);
  }

  return {
    driver,
    start: (agent) =>
      guarded(agent, () => serially(agent, 'start', async (now) => ({ was: now.status, ...(await bringUp(now)) }))),
    stop: (agent) => serially(agent, 'stop', stopNow),
    restart: (agent) => guarded(agent, () => serially(agent, 'restart', again)),
    update: (agent, image) => guarded(agent, () => serially(agent, 'update', (now) => updateNow(now, image))),
    repair: (agent) => guarded(agent, () => serially(agent, 'repair', again)),
    async rethink(agentId) {
      await driver.rethink?.(agentId);
      await tell(agentId, agentRethinks);
    },
    heard: ({ from, agentId }) => (from === self ? undefined : agentId),
    rotateToken: (agent, record) => serially(agent, ROTATE, (now) => rotateNow(now, record)),
    async settle(agentId) {
      const agent = await roster.find(agentId);
      // Its owner may have started it meanwhile.
      if (agent) await serially(agent, 'stop', async (now) => (now.status === 'stopped' ? takeDown(now) : undefined));
    },
    resetMemory: (agent) => serially(agent, 'reset-memory', (now) => driver.reset(now)),
    remove: (agent) => serially(agent, 'remove', removeNow),
    backups,
    backUp: (agent) => serially(agent, 'backup', (now) => backups.make(now, 'manual')),
    restore: (agent, backupId) => serially(agent, 'restore', (now, turn) => restoreNow(now, backupId, turn)),
    deleteBackup: (agent, backupId) =>
      serially(agent, 'delete-backup', async (now) => backups.delete(await backups.get(now, backupId))),
    async recover() {
      await operations.recover();
      for (const agent of await abandoned()) await serially(agent, 'start', bringUp).catch(() => undefined);
      await lookAround();
      await driver.recover();
    },
  };
}
