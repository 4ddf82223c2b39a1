import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { createPgStore, type Agent } from '@troupe/agent';
import { CHANNEL_NAMES } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, createCipher, createWorkerPool, type Log, type Outbound, type WorkerPool } from '@troupe/kernel';
import type { Channel, ChannelKind, ChannelSettings } from './channel.ts';
import { channelWebhook, createChannel, kindOf, readSettings } from './channels.ts';
import { LISTENER } from './listening.ts';
import { sendersIn } from './senders.ts';
import { createShares, type Place, type Shares } from './shares.ts';

/**
 * The messaging channels of all agents that run in the platform; those elsewhere listen themselves. Which there are is looked up from time to time, so it does not matter
 * which process an agent was made, stopped or changed in; a channel is listened to by one process at a time.
 */

export interface ChannelHost {
  /** Starts what should run and stops what should not. */
  refresh: () => Promise<void>;
  /** Stops those of one agent, before its rows go. Answers within a bound, stopped or not. */
  hush: (agentId: string) => Promise<void>;
  webhook: (
    target: { agentId: string; path: string },
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<boolean>;
  /** Tries settings that need not be stored: who the agent is at the service. Throws what is wrong. */
  test: (whose: Whose, kind: ChannelKind, settings: ChannelSettings, to?: string) => Promise<string>;
  /** Where the service calls us, below the agent's root; undefined: it does not. */
  webhookPath: (whose: Whose, kind: ChannelKind, settings: ChannelSettings) => Promise<string | undefined>;
  running: () => number;
  /** How many of them this process listens at. */
  listening: () => number;
  close: () => Promise<void>;
}

export interface ChannelHostDeps {
  db: Database;
  sealKey: string;
  /** The agent, awake. */
  agent: (agentId: string) => Promise<Agent | undefined>;
  outbound: Outbound;
  log: Log;
  /** Where this installation is; services want to know who calls. */
  publicUrl?: string;
  /** Where the services are; their own addresses unless a test says otherwise. */
  urls?: Partial<Record<ChannelKind, string>>;
  /** Tells others that some were let go, who need not wait then until they look by themselves. */
  left?: () => Promise<unknown>;
}

interface Whose {
  agentId: string;
  userId: string;
}

interface Wanted extends Whose {
  channel: string;
  sealed: Buffer;
  senders: string[];
  /** Nobody listens at it. */
  free: boolean;
  /** How many backends there are. */
  alive: number;
  settled: number;
}

const keyOf = ({ agentId, channel, sealed, senders }: Wanted): string =>
  JSON.stringify([agentId, channel, sealed.toString('hex'), senders]);

const BEGUN_AT_ONCE = 50;

/** Longer than a channel waits for the answers under way. */
const STOP_MS = 5000;

/** Whoever was heard of since has said so twice; one that ends goes at once. */
const ALIVE_SECONDS = 25;
/** From when it is known to others until it listens. */
const SETTLED_SECONDS = 5;

const kinds = sql.join(Object.entries(CHANNEL_NAMES).map(([kind, name]) => sql`(${name}::text, ${kind}::text)`));

/** With who listens at them: nobody needs to ask for each one by itself. */
async function findWanted(db: Database): Promise<Wanted[]> {
  const { rows } = await sql<Omit<Wanted, 'senders'> & { user: string | null; owners: string[] | null }>`
    select c.agent_id as "agentId", c.user_id as "userId", c.channel, c.sealed,
      d.config ->> 'channelUserId' as "user", d.config -> 'ownerIds' as owners,
      s.lease_owner is null or s.lease_until < clock_timestamp() as free,
      b.alive, b.settled
    from (select count(*)::int as alive,
        (count(*) filter (where started_at < now() - make_interval(secs => ${SETTLED_SECONDS})))::int as settled
      from schema_processes where service in ('backend', 'platform')
        and seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})) b
    cross join agent_channels c join agents a on a.id = c.agent_id
    left join (values ${kinds}) k (name, kind) on k.name = c.channel
    left join agent_sessions s on s.agent_id = a.id and s.channel = k.kind and s.key = ${LISTENER}
    cross join lateral (select definition -> 'config' as config from agent_definitions
      where agent_id = a.id order by version desc limit 1) d
    where c.sealed is not null and a.status = 'running' and a.driver is null
      and coalesce((d.config -> 'channels' -> c.channel ->> 'enabled')::boolean, c.channel in ('slack', 'email'))`.execute(
    db.system,
  );
  return rows
    .filter(({ channel }) => kindOf(channel) !== undefined)
    .map(({ user, owners, ...row }) => ({ ...row, senders: [...(user ? [user] : []), ...(owners ?? [])] }));
}

/** The agent, awake or not. */
function standingFor({ agent, db }: ChannelHostDeps, { agentId, userId }: Whose) {
  const awake = async (): Promise<Agent> => {
    const found = await agent(agentId);
    if (!found) throw new AppError(404, 'Agent not found');
    return found;
  };
  return {
    id: agentId,
    store: createPgStore({ db, userId, agentId }),
    ask: async (...args: Parameters<Agent['ask']>) => (await awake()).ask(...args),
    workspace: async () => (await awake()).workspace(),
  };
}

type HostDeps = ChannelHostDeps & { pool: WorkerPool };

function makeChannel(
  deps: HostDeps,
  whose: Whose,
  kind: ChannelKind,
  { settings, senders = [], place }: { settings: ChannelSettings; senders?: readonly string[]; place?: Place },
): Promise<Channel> {
  const { outbound, pool, log, publicUrl, urls = {} } = deps;
  const baseUrl = urls[kind];
  return createChannel(kind, {
    agent: standingFor(deps, whose),
    settings,
    outbound,
    pool,
    owner: whose.userId,
    log,
    // By mail it goes by addresses, which the owner names in the settings alone.
    allowedSenders: kind === 'email' ? [] : [...senders, ...sendersIn(settings)],
    ...(publicUrl !== undefined && { publicUrl }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(place && { place }),
  });
}

/** Channels that nobody listens at. */
const trying = (deps: HostDeps): Pick<ChannelHost, 'test' | 'webhookPath'> => ({
  test: async (whose, kind, settings, to) => (await makeChannel(deps, whose, kind, { settings })).test(to),
  webhookPath: async (whose, kind, settings) => (await makeChannel(deps, whose, kind, { settings })).webhookPath,
});

interface Open {
  agentId: string;
  channel: Channel;
}

async function stopWell(log: Log, { agentId, channel }: Open): Promise<void> {
  const stopped = channel
    .stop()
    .catch((err: unknown) => log.warn({ err, agentId, channel: channel.kind }, 'a channel did not stop well'));
  await Promise.race([stopped, delay(STOP_MS, undefined, { ref: false })]);
}

/** One after another, so that what is stopped is not started by a look from before. */
function oneAfterAnother() {
  let turn: Promise<void> = Promise.resolve();
  return (work: () => Promise<void>): Promise<void> => (turn = turn.catch(() => undefined).then(work));
}

/** The channels that are open in this process: those that are wanted. */
class OpenChannels {
  readonly #deps: HostDeps;
  readonly #cipher: ReturnType<typeof createCipher>;
  readonly #open = new Map<string, Open>();
  readonly #shares: Shares;

  constructor(deps: HostDeps) {
    const { sealKey, log, left = async () => {} } = deps;
    this.#deps = deps;
    this.#cipher = createCipher(sealKey, 'channels');
    this.#shares = createShares({
      left: () =>
        void left().catch((err: unknown) => log.warn({ err }, 'others were not told of channels that were let go')),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  listening(): number {
    return this.#shares.held();
  }

  of(agentId: string): Channel[] {
    return [...this.#open.values()].flatMap((one) => (one.agentId === agentId ? [one.channel] : []));
  }

  async #start(key: string, one: Wanted): Promise<void> {
    const kind = kindOf(one.channel);
    if (kind === undefined) return;
    const settings = readSettings(this.#cipher.open(one.sealed, `agent:${one.agentId}:${one.channel}`));
    const place = this.#shares.place(key);
    const channel = await makeChannel(this.#deps, one, kind, { settings, senders: one.senders, place });
    this.#open.set(key, { agentId: one.agentId, channel });
    await channel.start();
  }

  /** At the same time, and no longer than the bound: one that hangs holds up nobody else's. */
  async stop(isOver: (key: string, agentId: string) => boolean): Promise<void> {
    const ending = [...this.#open].filter(([key, { agentId }]) => isOver(key, agentId));
    for (const [key] of ending) {
      this.#open.delete(key);
      this.#shares.drop(key);
    }
    await Promise.all(ending.map(([, one]) => stopWell(this.#deps.log, one)));
  }

  async compare(): Promise<void> {
    const { db, log } = this.#deps;
    const now = new Map((await findWanted(db)).map((one) => [keyOf(one), one]));
    await this.stop((key) => !now.has(key));
    let begun = 0;
    for (const [key, one] of now) {
      if (this.#open.has(key)) continue;
      begun += 1;
      // The first need not wait for the last.
      if (begun % BEGUN_AT_ONCE === 0) this.#balance(now);
      await this.#start(key, one).catch(async (err: unknown) => {
        // Half started it would go on listening, for an agent that may be gone.
        await this.stop((started) => started === key);
        this.#shares.drop(key);
        log.error({ err, agentId: one.agentId, channel: one.channel }, 'a channel could not be started');
      });
    }
    this.#balance(now);
  }

  #balance(all: ReadonlyMap<string, Wanted>): void {
    const isFree = new Map([...all].map(([key, { free }]) => [key, free]));
    const [backends = { alive: 1, settled: 1 }] = all.values();
    this.#shares.look(isFree, backends);
  }
}

export function createChannelHost(given: ChannelHostDeps): ChannelHost {
  const deps = { ...given, pool: createWorkerPool() };
  const open = new OpenChannels(deps);
  const inTurn = oneAfterAnother();
  let closed = false;

  return {
    refresh: () => inTurn(async () => void (closed || (await open.compare()))),
    async hush(agentId) {
      if (open.of(agentId).length > 0) await inTurn(() => open.stop((_, owner) => owner === agentId));
    },
    webhook(target, request, response) {
      if (!target.path.startsWith('/channels/')) return Promise.resolve(false);
      return channelWebhook(open.of(target.agentId), target.path, request, response);
    },
    ...trying(deps),
    running: () => open.size,
    listening: () => open.listening(),
    async close() {
      closed = true;
      await inTurn(() => open.stop(() => true));
      await deps.pool.close();
    },
  };
}
