import type { Agent, LiveEvent } from '../agent.ts';
import type { SessionEvent } from '../session/events.ts';
import { followers, readInTurn } from '../session/reading.ts';

/** Reading along in a session: what is stored, then what comes, from whichever process. */

export type Follow = Agent['follow'];

type Delta = Extract<LiveEvent, { kind: 'delta' }>;

interface FollowDeps extends Pick<Agent, 'store' | 'watch' | 'definition'> {
  /** All that was written so far of what is being written in this process. */
  writing: (sessionId: string) => Delta | undefined;
  /** Whose it is: what one owner's followers read of the store comes page by page. */
  owner: string;
  /** How often a session that another process works on is looked at, for all who follow it together. */
  pollMs: number;
}

/** How long somebody may follow an agent that is deleted. */
const LOOK_MS = 5_000;
/** Small: each follower has a page in memory for as long as its reader takes. */
const PAGE = { limit: 500, bytes: 128 * 1024 };
/** What waits for a reader: whoever is slower reads stored events again, without the pieces that they were written in. */
const MAX_QUEUED = 1000;

/** What is known of a session that others may write to: one look for all its followers. */
interface News {
  followers: number;
  lastSeq: number;
  /** Why nobody can follow it any more. */
  error: Error | undefined;
  timer: NodeJS.Timeout | undefined;
  checked: number;
}

export function createFollow(deps: FollowDeps): Follow {
  const { store, watch, definition, writing, pollMs } = deps;
  const known = new Map<string, News>();

  function look(sessionId: string, news: News): void {
    news.timer = setTimeout(() => {
      void (async () => {
        try {
          const session = await store.session(sessionId);
          news.lastSeq = Math.max(news.lastSeq, session?.lastSeq ?? 0);
          if (Date.now() - news.checked > LOOK_MS) {
            await definition();
            news.checked = Date.now();
          }
        } catch (error) {
          news.error = error as Error;
        }
        if (news.followers > 0 && !news.error) look(sessionId, news);
      })();
    }, pollMs);
    news.timer.unref();
  }

  function join(sessionId: string): News {
    const found = known.get(sessionId);
    const news = found ?? { followers: 0, lastSeq: 0, error: undefined, timer: undefined, checked: Date.now() };
    news.followers += 1;
    if (!found) {
      known.set(sessionId, news);
      look(sessionId, news);
    }
    return news;
  }

  function leave(sessionId: string, news: News): void {
    news.followers -= 1;
    if (news.followers > 0 && !news.error) return;
    clearTimeout(news.timer);
    if (known.get(sessionId) === news) known.delete(sessionId);
  }

  return async function* follow(sessionId, after, signal): AsyncGenerator<LiveEvent> {
    const inbox = openInbox(signal);
    const begun = writing(sessionId);
    if (begun) inbox.put(begun);
    const stopWatching = watch(sessionId, inbox.put);
    const news = join(sessionId);
    let seen = after;
    let isBehind = true;
    /** Words of an answer that is stored are not heard after it. */
    let said = -1;
    const note = (event: SessionEvent): void => {
      seen = event.seq;
      if (event.type === 'assistant') said = event.saw;
      if (event.type === 'run_ended') said = event.seq - 1;
    };
    try {
      while (!signal.aborted) {
        if (news.error) throw news.error;
        const page: SessionEvent[] =
          isBehind || news.lastSeq > seen ? await pageAfter(deps, sessionId, seen, signal) : [];
        for (const event of page) {
          note(event);
          yield { kind: 'event', sessionId, event };
        }
        isBehind = page.length > 0;
        const deadline = Date.now() + pollMs;
        while (!isBehind && !signal.aborted && Date.now() < deadline) {
          const live = inbox.take();
          if (!live) await inbox.wait(deadline - Date.now());
          else if (live.kind === 'delta') {
            if (live.saw > said) yield live;
          } else if (live.event.seq > seen + 1) isBehind = true;
          else if (live.event.seq === seen + 1) {
            note(live.event);
            yield live;
          }
        }
      }
    } finally {
      inbox.close();
      stopWatching();
      leave(sessionId, news);
    }
  };
}

/** Read in the owner's turn; nothing when the reader is gone. */
async function pageAfter(
  { store, owner }: Pick<FollowDeps, 'store' | 'owner'>,
  sessionId: string,
  after: number,
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const read = async () => {
    const value = await store.events(sessionId, { after, ...PAGE });
    return { value, bytes: value.length > 0 ? JSON.stringify(value).length : 0 };
  };
  try {
    return await readInTurn(followers, owner, read, signal);
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

function openInbox(signal: AbortSignal) {
  let queue: LiveEvent[] = [];
  let wake: () => void = () => {};
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  return {
    put(live: LiveEvent): void {
      // A gap in the numbers makes the reader look into the store.
      if (queue.length >= MAX_QUEUED) queue = queue.filter(({ kind }) => kind === 'event').slice(-1);
      queue.push(live);
      wake();
    },
    take: () => queue.shift(),
    wait: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(1, ms));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    close: () => signal.removeEventListener('abort', onAbort),
  };
}
