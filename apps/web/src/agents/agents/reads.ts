import { setTimeout as delay } from 'node:timers/promises';
import { createStreams } from '@troupe/accounts';
import {
  gateway,
  backend as onBackend,
  MOST_LOG_STREAMS,
  TOO_MANY_LOG_STREAMS,
  type AgentStats,
  type TypesOf,
  type web,
} from '@troupe/contract';
import type { Listener } from '@troupe/db';
import type { Roster } from '@troupe/roster';
import { AppError, newId, type BackendClient, type Log, type ServerEvent, type User } from '@troupe/kernel';
import { asAppError, reach } from '../../platform/reach.ts';

export interface ReadsDeps {
  roster: Roster;
  backend: BackendClient;
  listener: Listener;
  log: Log;
}

export type ReadsService = ReturnType<typeof createReads>;

const LOOK_MS = 1000;

interface FollowOptions {
  level?: string;
  last: string | undefined;
  signal: AbortSignal;
}

async function* untilLeft<T>(source: AsyncIterable<T>, leave: () => void): AsyncGenerator<T> {
  try {
    yield* source;
  } finally {
    leave();
  }
}

/** Reads on in an agent’s log. */
function createFollow({ backend, listener, log }: ReadsDeps) {
  // Each asks the backend every second, for as long as it is read.
  const streams = createStreams(listener, { most: MOST_LOG_STREAMS, refusal: TOO_MANY_LOG_STREAMS });

  async function logsSince(user: User, agentId: string, from: string, query: { level?: string; after?: string }) {
    const { logs } = await backend
      .as(user, from)
      .call(gateway.runtime.getLogs, { params: { agentId }, query: { ...query, limit: 100 } });
    return logs.toReversed();
  }

  /** New entries as they come. A backend that is away for a while is waited for. */
  async function* follow(
    user: User,
    agentId: string,
    { level, last, signal }: FollowOptions,
  ): AsyncGenerator<ServerEvent> {
    // A reader must not use up what its user may call otherwise, so it counts by itself.
    const from = `log-reader-${newId()}`;
    let after = last;
    while (!signal.aborted) {
      try {
        const found = await logsSince(user, agentId, from, { ...(level && { level }), ...(after && { after }) });
        for (const entry of found) yield { id: entry.id, event: 'log', data: { ...entry, agentId } };
        after = found.at(-1)?.id ?? after ?? '0';
        if (found.length === 0) yield { event: 'ping', data: '' };
      } catch (err) {
        if (asAppError(err).status === 404) return;
        log.debug({ err, agentId }, 'a log could not be read');
        yield { event: 'ping', data: '' };
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Throws before the first entry when there are too many; none goes on for longer than what opened it. */
  function join(user: User, agentId: string, options: FollowOptions): AsyncIterable<ServerEvent> {
    const ended = new AbortController();
    const leave = streams.join({ user, end: () => ended.abort() });
    const entries = follow(user, agentId, { ...options, signal: AbortSignal.any([options.signal, ended.signal]) });
    return untilLeft(entries, leave);
  }

  return join;
}

/** What others vouch for. */
function verifying({ backend }: ReadsDeps, own: (user: User, id: string) => Promise<unknown>) {
  return {
    async verification(user: User, id: string, address: string) {
      await own(user, id);
      return reach(backend.as(user, address).call(onBackend.agents.getVerification, { params: { id } }));
    },

    async verify(user: User, id: string, body: TypesOf<typeof web.agents.verify>['body'], address: string) {
      await own(user, id);
      return reach(
        backend.as(user, address).call(onBackend.agents.verify, { params: { id }, body: { ...body, verified: true } }),
      );
    },

    async unverify(user: User, id: string, address: string) {
      await own(user, id);
      return reach(backend.as(user, address).call(onBackend.agents.removeVerification, { params: { id } }));
    },
  };
}

const nothing = (agentId: string): AgentStats => ({
  agentId,
  cpu: null,
  memory: null,
  memoryPercent: null,
  network: null,
  uptime: null,
  uptimeFormatted: null,
  status: null,
  pids: null,
  messagesProcessed: null,
  messagesPerHour: null,
  averageResponseTime: null,
  successRate: null,
  errorRate: null,
});

/** What an agent itself knows, asked at its gateway: the same for every driver. */
export function createReads(deps: ReadsDeps) {
  const { roster, backend } = deps;
  const own = (user: User, id: string) => roster.of(user.id).get(id);

  const follow = createFollow(deps);

  return {
    async logs(user: User, id: string, query: { limit: number; level?: string }, address: string) {
      await own(user, id);
      const found = await reach(
        backend.as(user, address).call(gateway.runtime.getLogs, { params: { agentId: id }, query }),
      );
      return { ...found, logs: found.logs.map((entry) => ({ ...entry, agentId: id })), status: 'ok' as const };
    },

    async logStream(user: User, id: string, options: FollowOptions) {
      await own(user, id);
      return follow(user, id, options);
    },

    async messages(user: User, id: string, query: { limit: number; offset: number }, address: string) {
      await own(user, id);
      const found = await reach(
        backend.as(user, address).call(gateway.runtime.getMessages, { params: { agentId: id }, query }),
      );
      return { ...found, messages: found.messages.map((one) => ({ ...one, agentId: id })), status: 'ok' as const };
    },

    async stats(user: User, id: string, address: string) {
      await own(user, id);
      try {
        const {
          plan: _plan,
          runtimeVersion: _version,
          ...stats
        } = await backend.as(user, address).call(onBackend.runtime.getStats, { params: { id } });
        return { stats, status: 'ok' as const };
      } catch (error) {
        const { status } = asAppError(error);
        if (status < 500) throw error instanceof AppError ? error : asAppError(error);
        return { stats: nothing(id), status: 'mock' as const };
      }
    },

    ...verifying(deps, own),
  };
}
