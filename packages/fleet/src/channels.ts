import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import {
  CHANNEL_KINDS,
  channelWebhook,
  createChannel,
  createPgStore,
  type Agent,
  type Channel,
  type ChannelKind,
} from '@troupe/agent';
import type { Database } from '@troupe/db';
import { AppError, createCipher, type Log, type Outbound } from '@troupe/kernel';

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
  /** Where the services are; their own addresses unless a test says otherwise. */
  urls?: Partial<Record<ChannelKind, string>>;
}

interface Wanted {
  agentId: string;
  userId: string;
  channel: keyof typeof CHANNEL_KINDS;
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
      and coalesce((d.config -> 'channels' -> c.channel ->> 'enabled')::boolean, false)`.execute(db.system);
  return rows
    .filter(({ channel }) => channel in CHANNEL_KINDS)
    .map(({ user, owners, ...row }) => ({ ...row, senders: [...(user ? [user] : []), ...(owners ?? [])] }));
}

/** Asks the agent, awake or not. */
const asker =
  ({ agent }: ChannelHostDeps, agentId: string): Agent['ask'] =>
  async (...args) => {
    const awake = await agent(agentId);
    if (!awake) throw new AppError(404, 'Agent not found');
    return awake.ask(...args);
  };

function makeChannel(
  deps: ChannelHostDeps,
  { agentId, userId, channel: name, senders }: Wanted,
  token: string,
): Channel {
  const { db, outbound, log, urls = {} } = deps;
  const kind = CHANNEL_KINDS[name];
  const baseUrl = urls[kind];
  return createChannel(kind, {
    agent: { id: agentId, store: createPgStore({ db, userId, agentId }), ask: asker(deps, agentId) },
    token,
    outbound,
    log,
    allowedSenders: senders,
    ...(baseUrl !== undefined && { baseUrl }),
  });
}

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

export function createChannelHost(deps: ChannelHostDeps): ChannelHost {
  const { db, sealKey, log } = deps;
  const cipher = createCipher(sealKey, 'channels');
  const open = new Map<string, Open>();
  let turn: Promise<void> = Promise.resolve();

  async function start(key: string, one: Wanted): Promise<void> {
    const token = cipher.open(one.sealed, `agent:${one.agentId}:${one.channel}`);
    const channel = makeChannel(deps, one, token);
    open.set(key, { agentId: one.agentId, channel });
    await channel.start();
  }

  /** At the same time, and no longer than the bound: one that hangs holds up nobody else's. */
  async function stopAll(isOver: (key: string, agentId: string) => boolean): Promise<void> {
    const ending = [...open].filter(([key, { agentId }]) => isOver(key, agentId));
    for (const [key] of ending) open.delete(key);
    await Promise.all(ending.map(([, one]) => stopWell(log, one)));
  }

  /** One after another, so that what is stopped is not started by a look from before. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    turn = turn.catch(() => undefined).then(work);
    return turn;
  }

  async function compare(): Promise<void> {
    const now = new Map((await findWanted(db)).map((one) => [keyOf(one), one]));
    await stopAll((key) => !now.has(key));
    for (const [key, one] of now) {
      if (open.has(key)) continue;
      await start(key, one).catch((err: unknown) => {
        open.delete(key);
        log.error({ err, agentId: one.agentId, channel: one.channel }, 'a channel could not be started');
      });
    }
  }

  return {
    refresh: () => inTurn(compare),
    async hush(agentId) {
      if ([...open.values()].some((one) => one.agentId === agentId))
        await inTurn(() => stopAll((_, owner) => owner === agentId));
    },
    webhook(target, request, response) {
      if (!target.path.startsWith('/channels/')) return Promise.resolve(false);
      const own = [...open.values()].filter(({ agentId }) => agentId === target.agentId);
      return channelWebhook(
        own.map(({ channel }) => channel),
        target.path,
        request,
        response,
      );
    },
    running: () => open.size,
    async close() {
      await inTurn(() => stopAll(() => true));
    },
  };
}
