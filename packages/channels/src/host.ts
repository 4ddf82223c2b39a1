import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { createPgStore, type Agent } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { AppError, createCipher, createWorkerPool, type Log, type Outbound, type WorkerPool } from '@troupe/kernel';
import type { Channel, ChannelKind, ChannelSettings } from './channel.ts';
import { channelWebhook, createChannel, kindOf, readSettings } from './channels.ts';
import { sendersIn } from './senders.ts';

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
}

interface Whose {
  agentId: string;
  userId: string;
}

interface Wanted extends Whose {
  channel: string;
  sealed: Buffer;
  senders: string[];
}

const keyOf = ({ agentId, channel, sealed, senders }: Wanted): string =>
  JSON.stringify([agentId, channel, sealed.toString('hex'), senders]);

/** Longer than a channel waits for the answers under way. */
const STOP_MS = 5000;

async function findWanted(db: Database): Promise<Wanted[]> {
  const { rows } = await sql<Omit<Wanted, 'senders'> & { user: string | null; owners: string[] | null }>`
    select c.agent_id as "agentId", c.user_id as "userId", c.channel, c.sealed,
      d.config ->> 'channelUserId' as "user", d.config -> 'ownerIds' as owners
    from agent_channels c join agents a on a.id = c.agent_id
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
  { settings, senders = [] }: { settings: ChannelSettings; senders?: readonly string[] },
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

export function createChannelHost(given: ChannelHostDeps): ChannelHost {
  const { db, sealKey, log } = given;
  const deps = { ...given, pool: createWorkerPool() };
  const cipher = createCipher(sealKey, 'channels');
  const open = new Map<string, Open>();
  const inTurn = oneAfterAnother();
  let closed = false;

  async function start(key: string, one: Wanted): Promise<void> {
    const kind = kindOf(one.channel);
    if (kind === undefined) return;
    const settings = readSettings(cipher.open(one.sealed, `agent:${one.agentId}:${one.channel}`));
    const channel = await makeChannel(deps, one, kind, { settings, senders: one.senders });
    open.set(key, { agentId: one.agentId, channel });
    await channel.start();
  }

  /** At the same time, and no longer than the bound: one that hangs holds up nobody else's. */
  async function stopAll(isOver: (key: string, agentId: string) => boolean): Promise<void> {
    const ending = [...open].filter(([key, { agentId }]) => isOver(key, agentId));
    for (const [key] of ending) open.delete(key);
    await Promise.all(ending.map(([, one]) => stopWell(log, one)));
  }

  async function compare(): Promise<void> {
    const now = new Map((await findWanted(db)).map((one) => [keyOf(one), one]));
    await stopAll((key) => !now.has(key));
    for (const [key, one] of now) {
      if (open.has(key)) continue;
      await start(key, one).catch(async (err: unknown) => {
        // Half started it would go on listening, for an agent that may be gone.
        await stopAll((begun) => begun === key);
        log.error({ err, agentId: one.agentId, channel: one.channel }, 'a channel could not be started');
      });
    }
  }

  return {
    refresh: () => inTurn(async () => void (closed || (await compare()))),
    async hush(agentId) {
      if ([...open.values()].some((one) => one.agentId === agentId))
        await inTurn(() => stopAll((_, owner) => owner === agentId));
    },
    webhook(target, request, response) {
      if (!target.path.startsWith('/channels/')) return Promise.resolve(false);
      const own = [...open.values()].flatMap(({ agentId, channel }) => (agentId === target.agentId ? [channel] : []));
      return channelWebhook(own, target.path, request, response);
    },
    ...trying(deps),
    running: () => open.size,
    async close() {
      closed = true;
      await inTurn(() => stopAll(() => true));
      await deps.pool.close();
    },
  };
}
