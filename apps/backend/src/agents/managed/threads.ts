import { AppError } from '@troupe/kernel';
import type { ListQuery } from './paging.ts';
import type { ManagedSessions } from './sessions.ts';

/** The one thread of a session: the session itself, under a name of its own. */

const threadId = (sessionId: string): string => sessionId.replace(/^sesn_/, 'sthr_');

type Page = Omit<ListQuery, 'include_archived'>;

export type Threads = ReturnType<typeof createThreads>;

export function createThreads(sessions: Pick<ManagedSessions, 'get' | 'events' | 'stream'>) {
  async function shown(userId: string, sessionId: string) {
    const { agent, status, created_at, updated_at, archived_at } = await sessions.get(userId, sessionId);
    return {
      type: 'session_thread' as const,
      id: threadId(sessionId),
      session_id: sessionId,
      parent_thread_id: null,
      agent,
      status,
      stats: null,
      usage: null,
      workflow_run_id: null,
      created_at,
      updated_at,
      archived_at,
    };
  }
  const check = (sessionId: string, id: string): void => {
    if (id !== threadId(sessionId)) throw new AppError(404, 'Thread not found');
  };
  return {
    async list(userId: string, sessionId: string, { page = '0' }: Page) {
      if (page !== '0') throw new AppError(400, 'page must be one that was given');
      return { data: [await shown(userId, sessionId)], next_page: null };
    },
    async get(userId: string, sessionId: string, id: string) {
      const found = await shown(userId, sessionId);
      check(sessionId, id);
      return found;
    },
    async archive(userId: string, sessionId: string, id: string): Promise<never> {
      await shown(userId, sessionId);
      check(sessionId, id);
      throw new AppError(400, 'A session has one thread: archive the session');
    },
    async events(userId: string, sessionId: string, id: string, page: Page) {
      check(sessionId, id);
      return sessions.events(userId, sessionId, page);
    },
    async stream(user: Parameters<ManagedSessions['stream']>[0], sessionId: string, id: string, signal: AbortSignal) {
      check(sessionId, id);
      return sessions.stream(user, sessionId, signal);
    },
  };
}
