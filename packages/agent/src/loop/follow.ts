import { AppError } from '@troupe/kernel';
import type { Agent, LiveEvent, LiveThought, Room } from '../agent.ts';
import type { SessionEvent } from '../session/events.ts';
import type { SessionNews, Told } from '../session/news.ts';
import { followers, readInTurn } from '../session/reading.ts';
import type { Audience } from './audience.ts';

/** A conversation that is gone may be its agent’s end: how often that is looked up. */
const LOOK_MS = 5_000;
/** Small: each follower has a page in memory for as long as its reader takes. */
const PAGE = { limit: 500, bytes: 128 * 1024 };
/**
 * What waits for a reader: whoever is slower reads stored events again, without the pieces that they were written in. An
 * event may be a quarter of a megabyte.
 */
const MAX_QUEUED = 1000;
const MAX_QUEUED_EVENTS = 20;

/** What is known of a session beside what was read. */
interface Known {
  lastSeq: number;
  /** Why it cannot be followed any more. */
  error: Error | undefined;
  checkedAt: number;
  wake: () => void;
}

/** Reading along in the sessions of an agent: what is stored, then what comes, from whichever process. */
export class Following {
  readonly #agent: Pick<Agent, 'store' | 'owner' | 'definition'>;
  readonly #audience: Audience;
  readonly #news: SessionNews;
  readonly #readers = new Set<Known>();

  constructor(agent: Pick<Agent, 'store' | 'owner' | 'definition'>, audience: Audience, news: SessionNews) {
    this.#agent = agent;
    this.#audience = audience;
    this.#news = news;
  }

  /** Whether there still is something to follow: the agent may have been deleted. */
  check(): void {
    for (const known of this.#readers) void this.#check(known);
  }

  /** Stored events after `after`, then new ones. Ends with the signal. */
  async *follow(
    sessionId: string,
    after: number,
    signal: AbortSignal,
    { thoughts = false, room }: { thoughts?: boolean; room?: Room | undefined } = {},
  ): AsyncGenerator<LiveEvent | LiveThought> {
    const inbox = openInbox(signal);
    const begun = this.#audience.writing(sessionId);
    if (begun) inbox.put(begun);
    const stopWatching = this.#audience.watch(sessionId, inbox.put);
    const stopMind = thoughts ? this.#audience.watchThoughts(sessionId, inbox.put) : undefined;
    const known: Known = { lastSeq: 0, error: undefined, checkedAt: -Infinity, wake: inbox.wake };
    this.#readers.add(known);
    const stopNews = this.#news.watch(sessionId, (told) => this.#hear(known, told));
    const place = new Place(after);
    let isBehind = true;
    try {
      while (!signal.aborted) {
        if (known.error) throw known.error;
        const { lastSeq } = known;
        if ((isBehind || lastSeq > place.seen) && !inbox.goesOnFrom(place.seen)) {
          isBehind = yield* this.#stored(sessionId, place, inbox, signal, room);
          // What it had is gone, with the conversation.
          if (!isBehind && known.lastSeq === lastSeq && !inbox.goesOnFrom(place.seen))
            known.lastSeq = Math.min(lastSeq, place.seen);
          continue;
        }
        const live = inbox.take();
        if (!live) await inbox.wait();
        else if (live.kind !== 'event') {
          if (live.saw > place.said) yield live;
        } else if (live.event.seq > place.seen + 1) isBehind = true;
        else if (live.event.seq === place.seen + 1) {
          isBehind = false;
          place.pass(live.event);
          yield live;
        }
      }
    } finally {
      inbox.close();
      stopWatching();
      stopMind?.();
      stopNews();
      this.#readers.delete(known);
    }
  }

  /** A page of what is stored; answers whether there may be more. */
  async *#stored(
    sessionId: string,
    place: Place,
    inbox: Inbox,
    signal: AbortSignal,
    room: Room = noRoomNeeded,
  ): AsyncGenerator<LiveEvent, boolean> {
    let leave: () => void;
    try {
      leave = await room(signal);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
    try {
      const page = await pageAfter(this.#agent, sessionId, place.seen, signal);
      // It was heard in the meantime, with the words and thoughts that are stored nowhere.
      if (inbox.goesOnFrom(place.seen)) return false;
      for (const event of page) {
        place.pass(event);
        yield { kind: 'event', sessionId, event };
      }
      return page.length > 0;
    } finally {
      leave();
    }
  }

  #hear(known: Known, told: Told): void {
    if (told instanceof Error) known.error = told;
    else if (told !== undefined) known.lastSeq = Math.max(known.lastSeq, told);
    else if (performance.now() - known.checkedAt > LOOK_MS) void this.#check(known);
    known.wake();
  }

  async #check(known: Known): Promise<void> {
    known.checkedAt = performance.now();
    try {
      await this.#agent.definition();
    } catch (error) {
      // A database that does not answer is asked again later.
      if (!(error instanceof AppError) || error.status !== 404) return;
      known.error = error;
      known.wake();
    }
  }
}

const noRoomNeeded: Room = async () => () => {};

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
    return { value, bytes: value.length > 0 ? lengthOf(value) : 0 };
  };
  try {
    return await readInTurn(followers, owner, read, signal);
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

/** About as long as its JSON is, which is not made for that: it would be as much again. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  return Object.entries(value).reduce((sum, [key, part]) => sum + key.length + 4 + lengthOf(part), 2);
}

type Inbox = ReturnType<typeof openInbox>;

function openInbox(signal: AbortSignal) {
  let queue: (LiveEvent | LiveThought)[] = [];
  let events = 0;
  let resume: () => void = () => {};
  const wake = (): void => resume();
  signal.addEventListener('abort', wake);
  return {
    put(live: LiveEvent | LiveThought): void {
      // A gap in the numbers makes the reader look into the store.
      if (queue.length >= MAX_QUEUED || events >= MAX_QUEUED_EVENTS) {
        queue = queue.filter(({ kind }) => kind === 'event').slice(-1);
        events = queue.length;
      }
      queue.push(live);
      if (live.kind === 'event') events += 1;
      wake();
    },
    take() {
      const live = queue.shift();
      if (live?.kind === 'event') events -= 1;
      return live;
    },
    /** Whether the next event is here: there is nothing to look for in the store. */
    goesOnFrom(seq: number): boolean {
      for (const live of queue) if (live.kind === 'event' && live.event.seq > seq) return live.event.seq === seq + 1;
      return false;
    },
    wake,
    wait: () =>
      new Promise<void>((resolve) => {
        resume = resolve;
      }),
    close: () => signal.removeEventListener('abort', wake),
  };
}
