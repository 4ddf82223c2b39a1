import { setTimeout as delay } from 'node:timers/promises';
import {
  credentialEnded,
  eventsOf,
  gatewayFollow,
  LIVE_TOPICS,
  liveChanged,
  MOST_STREAMS,
  noticeRaised,
  type LiveTopic,
} from '@troupe/contract';
import type { Listener } from '@troupe/db';
import type { Roster } from '@troupe/roster';
import { AppError, newId, type BackendClient, type Log, type ServerEvent, type User } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import { openOutbox, type Outbox } from './outbox.ts';

export interface LiveDeps {
  roster: Roster;
  backend: BackendClient;
  listener: Listener;
  log: Log;
}

export type LiveService = ReturnType<typeof createLive>;

const EVERY_ADMINISTRATOR = '*';

const PING_MS = 20_000;
const RETRY_MS = 1000;
/** A follower is opened anew after that; nothing is missed. */
const FOLLOW_MS = 3_600_000;

interface Watch {
  agentId: string;
  sessionId: string;
  after: number;
}

interface Stream {
  user: User;
  outbox: Outbox;
  end: () => void;
}

/** The open streams of this process, and what is told to them. */
function createStreams({ listener }: LiveDeps) {
  const streams = new Map<string, Set<Stream>>();

  function tell(userId: string, topic: LiveTopic): void {
    const heard =
      userId === EVERY_ADMINISTRATOR
        ? [...streams.values()].flatMap((set) => [...set]).filter(({ user }) => user.isAdmin)
        : (streams.get(userId) ?? []);
    for (const { outbox } of heard) outbox.change(topic);
  }

  // Listened for from the start, and once: who opens a stream misses nothing that comes after `ready`.
  listener.on(liveChanged, (payload) => {
    const [userId = '', topic = ''] = payload.split(' ');
    if ((LIVE_TOPICS as readonly string[]).includes(topic)) tell(userId, topic as LiveTopic);
  });
  listener.on(noticeRaised, (userId) => tell(userId, 'notices'));
  listener.on(credentialEnded, (payload) => {
    for (const set of streams.values())
      for (const { user, end } of set)
        if (payload === `session:${user.sessionId}` || payload === `key:${user.keyId}`) end();
  });

  function join(stream: Stream): () => void {
    const { id } = stream.user;
    const set = streams.get(id) ?? new Set();
    if (set.size >= MOST_STREAMS) throw new AppError(429, `A user has ${MOST_STREAMS} live streams at most`);
    streams.set(id, set.add(stream));
    return () => {
      set.delete(stream);
      if (set.size === 0) streams.delete(id);
    };
  }

  return join;
}

/** What an agent says, passed on to a stream. */
function createFollowing({ roster, backend, log }: LiveDeps) {
  /** Passes a conversation on until its reader leaves or it is gone. A backend that is away for a while is waited for. */
  async function follow(user: User, watch: Watch, all: readonly Watch[], outbox: Outbox, signal: AbortSignal) {
    const about = { agentId: watch.agentId, sessionId: watch.sessionId };
    // A reader must not use up what its user may call otherwise, so it counts by itself.
    const client = backend.as(user, `live-${newId()}`);
    while (!signal.aborted) {
      try {
        await roster.of(user.id).get(watch.agentId);
        const response = await client.open(gatewayFollow, {
          params: { agentId: watch.agentId, id: watch.sessionId },
          headers: { accept: 'text/event-stream', 'last-event-id': String(watch.after) },
          timeout: FOLLOW_MS,
          signal,
        });
        for await (const { event, id, data } of eventsOf(response)) {
          const value = JSON.parse(data) as Record<string, unknown>;
          if (event === 'error') throw new AppError(404, 'Session not found', value);
          if (id === undefined) await outbox.put({ event: 'delta', data: { ...about, ...value } });
          else {
            watch.after = Number(id);
            await outbox.put({ id: positions(all), event: 'step', data: { ...about, step: value } });
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        const known = asAppError(error);
        if (known.status === 404) return outbox.put({ event: 'gone', data: { ...about, error: known.message } });
        log.debug({ err: error, agentId: watch.agentId }, 'a conversation could not be followed');
      }
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  return follow;
}

/** One stream for each tab of a dashboard, or for a program: it names what changed, and follows conversations. */
export function createLive(deps: LiveDeps) {
  const join = createStreams(deps);
  const follow = createFollowing(deps);

  return {
    /** Throws before the first event when there are too many. */
    open(
      user: User,
      watch: string | undefined,
      last: string | undefined,
      gone: AbortSignal,
    ): AsyncIterable<ServerEvent> {
      const ended = new AbortController();
      const signal = AbortSignal.any([gone, ended.signal]);
      const outbox = openOutbox(signal);
      const leave = join({ user, outbox, end: () => ended.abort() });
      const watches = readWatches(watch, last);
      return (async function* events() {
        const ping = setInterval(() => outbox.ping(), PING_MS);
        for (const one of watches) void follow(user, one, watches, outbox, signal);
        try {
          yield { event: 'ready', data: {} };
          for (let next = await outbox.take(); next; next = await outbox.take()) yield next;
        } finally {
          clearInterval(ping);
          ended.abort();
          leave();
        }
      })();
    },
  };
}

/** Where a reader stands in each conversation: what it comes back with. */
const positions = (watches: readonly Watch[]): string =>
  watches.map(({ sessionId, after }) => `${sessionId}:${after}`).join(',');

function readWatches(given: string | undefined, last = ''): Watch[] {
  const reached = new Map(last.split(',').map((one) => one.split(':', 2) as [string, string | undefined]));
  return (given?.split(',') ?? []).map((one) => {
    const [agentId = '', sessionId = '', after = '0'] = one.split(':');
    const seen = Number(reached.get(sessionId) ?? after);
    return { agentId, sessionId, after: Number.isSafeInteger(seen) && seen >= 0 ? seen : Number(after) };
  });
}
