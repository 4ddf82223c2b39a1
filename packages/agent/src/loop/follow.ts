import type { Agent, LiveEvent } from '../agent.ts';
import type { SessionEvent } from '../session/events.ts';
import { followers, readInTurn } from '../session/reading.ts';
import type { Audience } from './audience.ts';

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

/** Reading along in the sessions of an agent: what is stored, then what comes, from whichever process. */
export class Following {
  readonly #agent: Pick<Agent, 'store' | 'owner' | 'definition'>;
  readonly #audience: Audience;
  /** How often a session that another process works on is looked at, for all who follow it together. */
  readonly #pollMs: number;
  readonly #known = new Map<string, News>();

  constructor(agent: Pick<Agent, 'store' | 'owner' | 'definition'>, audience: Audience, pollMs: number) {
    this.#agent = agent;
    this.#audience = audience;
    this.#pollMs = pollMs;
  }

  /** Stored events after `after`, then new ones. Ends with the signal. */
  async *follow(sessionId: string, after: number, signal: AbortSignal): AsyncGenerator<LiveEvent> {
    const inbox = openInbox(signal);
    const begun = this.#audience.writing(sessionId);
    if (begun) inbox.put(begun);
    const stopWatching = this.#audience.watch(sessionId, inbox.put);
    const news = this.#join(sessionId);
    const place = new Place(after);
    let isBehind = true;
    try {
      while (!signal.aborted) {
        if (news.error) throw news.error;
        const page: SessionEvent[] =
          isBehind || news.lastSeq > place.seen ? await pageAfter(this.#agent, sessionId, place.seen, signal) : [];
        for (const event of page) {
          place.pass(event);
          yield { kind: 'event', sessionId, event };
        }
        isBehind = page.length > 0;
        const deadline = Date.now() + this.#pollMs;
        while (!isBehind && !signal.aborted && Date.now() < deadline) {
          const live = inbox.take();
          if (!live) await inbox.wait(deadline - Date.now());
          else if (live.kind === 'delta') {
            if (live.saw > place.said) yield live;
          } else if (live.event.seq > place.seen + 1) isBehind = true;
          else if (live.event.seq === place.seen + 1) {
            place.pass(live.event);
            yield live;
          }
        }
      }
    } finally {
      inbox.close();
      stopWatching();
      this.#leave(sessionId, news);
    }
  }

  #join(sessionId: string): News {
    const found = this.#known.get(sessionId);
    const news = found ?? { followers: 0, lastSeq: 0, error: undefined, timer: undefined, checked: Date.now() };
    news.followers += 1;
    if (!found) {
      this.#known.set(sessionId, news);
      this.#lookLater(sessionId, news);
    }
    return news;
  }

  #leave(sessionId: string, news: News): void {
    news.followers -= 1;
    if (news.followers > 0 && !news.error) return;
    clearTimeout(news.timer);
    if (this.#known.get(sessionId) === news) this.#known.delete(sessionId);
  }

  #lookLater(sessionId: string, news: News): void {
    news.timer = setTimeout(() => void this.#look(sessionId, news), this.#pollMs);
    news.timer.unref();
  }

  async #look(sessionId: string, news: News): Promise<void> {
    try {
      const session = await this.#agent.store.session(sessionId);
      news.lastSeq = Math.max(news.lastSeq, session?.lastSeq ?? 0);
      if (Date.now() - news.checked > LOOK_MS) {
        await this.#agent.definition();
        news.checked = Date.now();
      }
    } catch (error) {
      news.error = error as Error;
    }
    if (news.followers > 0 && !news.error) this.#lookLater(sessionId, news);
  }
}

/** How far a reader is. */
class Place {
  seen: number;
  /** Words of an answer that is stored are not heard after it. */
  said = -1;

  constructor(after: number) {
    this.seen = after;
  }

  pass(event: SessionEvent): void {
    this.seen = event.seq;
    if (event.type === 'assistant') this.said = event.saw;
    if (event.type === 'run_ended') this.said = event.seq - 1;
  }
}

/** Read in the owner's turn; nothing when the reader is gone. */
async function pageAfter(
  { store, owner }: Pick<Agent, 'store' | 'owner'>,
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
