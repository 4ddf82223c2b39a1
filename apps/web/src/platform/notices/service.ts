import { createStreams } from '@troupe/accounts';
import { MOST_NOTICE_STREAMS, type Notice, noticeRaised, TOO_MANY_NOTICE_STREAMS } from '@troupe/contract';
import type { Database, Listener } from '@troupe/db';
import { iso, isoOrNull, type Clock, type ServerEvent, type User } from '@troupe/kernel';
import * as store from './store.ts';

export interface NoticesDeps {
  db: Database;
  clock: Clock;
  listener: Listener;
}

export type NoticesService = ReturnType<typeof createNotices>;

const KEEP_ALIVE_MS = 25_000;

type Row = Awaited<ReturnType<typeof store.noticesAfter>>[number];

const shown = (row: Row): Notice => ({
  id: String(row.id),
  kind: row.kind as Notice['kind'],
  message: row.message,
  link: row.link,
  createdAt: iso(row.created_at),
  readAt: isoOrNull(row.read_at),
});

export function createNotices({ db, clock, listener }: NoticesDeps) {
  const streams = createStreams(listener, { most: MOST_NOTICE_STREAMS, refusal: TOO_MANY_NOTICE_STREAMS });

  async function after(userId: string, id: bigint, limit: number): Promise<Notice[]> {
    return (await store.noticesAfter(db.user(userId), id, limit)).map(shown);
  }

  return {
    async list(userId: string, limit: number) {
      const unread = await store.countUnread(db.user(userId));
      return { notices: await after(userId, 0n, limit), unread };
    },

    async read(userId: string, ids: string[] | undefined) {
      await store.markRead(db.user(userId), ids?.map(BigInt), clock());
      return { success: true as const };
    },

    /** New notices as they come. Throws before the first when there are too many. */
    stream(user: User, lastSeen: string | undefined, gone: AbortSignal): AsyncIterable<ServerEvent> {
      const ended = new AbortController();
      const leave = streams.join({ user, end: () => ended.abort() });
      return follow(user.id, lastSeen, AbortSignal.any([gone, ended.signal]), leave);
    },
  };

  /** A client that reconnects names the last one it saw and misses none. */
  async function* follow(
    userId: string,
    lastSeen: string | undefined,
    signal: AbortSignal,
    leave: () => void,
  ): AsyncGenerator<ServerEvent> {
    let wake = Promise.withResolvers<void>();
    const stop = listener.on(noticeRaised, (payload) => payload === userId && wake.resolve());
    signal.addEventListener('abort', () => wake.resolve());
    const timer = setInterval(() => wake.resolve(), KEEP_ALIVE_MS);
    try {
      let last = lastSeen && /^\d{1,18}$/.test(lastSeen) ? BigInt(lastSeen) : await store.newestId(db.user(userId));
      yield { event: 'ready', data: {} };
      while (!signal.aborted) {
        const fresh = (await after(userId, last, 100)).toReversed();
        for (const notice of fresh) yield { id: notice.id, event: 'notice', data: notice };
        last = fresh.length > 0 ? BigInt(fresh.at(-1)!.id) : last;
        if (fresh.length === 0) yield { event: 'ping', data: {} };
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    } finally {
      clearInterval(timer);
      stop();
      leave();
    }
  }
}
