import { setTimeout as delay } from 'node:timers/promises';
import { eventsOf, gateway, liveChanged, WIDGET_GONE } from '@troupe/contract';
import type { Database, Listener } from '@troupe/db';
import type { Client, SentEvent } from '@troupe/contract';
import { AppError, madeOf, pulled, type Log, type ServerEvent } from '@troupe/kernel';
import { asAppError } from '../../platform/reach.ts';
import { createSeats } from './seats.ts';
import { stillOpen } from './store.ts';
import { shownOf } from './view.ts';

export interface FollowingDeps {
  db: Database;
  listener: Listener;
  log: Log;
}

/** Whose conversation, and after which step. */
export interface Place {
  key: string;
  visitorId: string;
  address: string;
  ownerId: string;
  agentId: string;
  sessionId: string;
  state: string;
  after: number;
}

const PING_MS = 20_000;
/** Whoever is still there comes again, and goes on where it was. */
const LONGEST_MS = 600_000;
/** Several changes of one moment are looked up once. */
const LOOK_MS = 100;

type Step = Parameters<typeof shownOf>[0];

/** What a visitor sees of a conversation that web follows as its owner's. */
function passedOn(client: Client, place: Place, signal: AbortSignal): AsyncIterator<ServerEvent> {
  let steps: AsyncIterator<ServerEvent> | undefined;
  return pulled<ServerEvent>(
    async () => {
      if (steps) {
        const { done, value } = await steps.next();
        return done === true ? undefined : value;
      }
      const response = await client.open(gateway.conversations.follow, {
        params: { agentId: place.agentId, id: place.sessionId },
        headers: { accept: 'text/event-stream', 'last-event-id': String(place.after) },
        timeout: LONGEST_MS,
        signal,
      });
      steps = madeOf(eventsOf(response), eventsFor);
      // Said once nothing can be missed any more.
      return { event: 'state', data: { state: place.state } };
    },
    async () => steps?.return?.(),
  );
}

function eventsFor({ event, id, data }: SentEvent): ServerEvent[] {
  const value = JSON.parse(data) as Step;
  if (event === 'error') throw new AppError(404, 'Session not found');
  if (id === undefined) return [{ event: 'delta', data: { text: value['text'], fresh: value['fresh'] === true } }];
  return shownOf(value).map((shown) => ({ id, ...shown }));
}

/** Streams of visitors, which end with their widget. */
export function createFollowing({ db, listener, log }: FollowingDeps) {
  const seats = createSeats();
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    await delay(LOOK_MS);
    looking = undefined;
    const keys = [...new Set(seats.all().map(({ key }) => key))];
    if (keys.length === 0) return;
    const open = await stillOpen(db.system, keys);
    for (const stream of seats.all()) if (keys.includes(stream.key) && !open.has(stream.key)) stream.close();
  }
  listener.on(liveChanged, (payload) => {
    if (!payload.endsWith(' widgets') || seats.all().length === 0) return;
    looking ??= look().catch((err: unknown) => log.warn({ err }, 'open widgets could not be looked up'));
  });

  /** Throws before the first event when there are too many. */
  return function follow(client: Client, place: Place, signalOfReader: AbortSignal): AsyncIterable<ServerEvent> {
    const ended = new AbortController();
    const signal = AbortSignal.any([signalOfReader, ended.signal, AbortSignal.timeout(LONGEST_MS)]);
    const desk = openDesk(passedOn(client, place, signal), signal);
    const leave = seats.take({ ...place, close: desk.close });
    let timer: NodeJS.Timeout | undefined;
    return pulled(
      async () => {
        timer ??= setInterval(desk.ping, PING_MS).unref();
        try {
          return await desk.next();
        } catch (error) {
          // The page comes again by itself, and is told then what is wrong.
          if (!signal.aborted)
            log.debug({ err: asAppError(error), agentId: place.agentId }, 'a visitor’s stream ended');
          return undefined;
        }
      },
      () => {
        clearInterval(timer);
        ended.abort();
        leave();
      },
    );
  };
}

/**
 * What comes next for a visitor: a step, a sign of life, or the end. Whoever waits is woken, and looks: a race with a promise
 * that lasts as long as the stream would keep all that ever won against it.
 */
function openDesk(steps: AsyncIterator<ServerEvent>, signal: AbortSignal) {
  let wake = Promise.withResolvers<void>();
  let isClosed = false;
  let isPinged = false;
  let isAsked = false;
  let isOver = false;
  let arrived: { step: IteratorResult<ServerEvent> } | { error: unknown } | undefined;

  const come = (what: NonNullable<typeof arrived>): void => {
    arrived = what;
    wake.resolve();
  };

  function ask(): void {
    isAsked = true;
    steps.next().then(
      (step) => come({ step }),
      (error: unknown) => come({ error }),
    );
  }

  /** What is there; undefined: nothing yet. */
  function take(): ServerEvent | undefined {
    if (isClosed) {
      isOver = true;
      return { event: 'closed', data: { text: WIDGET_GONE } };
    }
    if (isPinged) {
      isPinged = false;
      return { event: 'ping', data: {} };
    }
    if (!arrived) return undefined;
    const came = arrived;
    [arrived, isAsked] = [undefined, false];
    if ('error' in came) throw came.error;
    isOver = came.step.done === true;
    return came.step.done === true ? undefined : came.step.value;
  }

  return {
    close(): void {
      isClosed = true;
      wake.resolve();
    },
    ping(): void {
      isPinged = true;
      wake.resolve();
    },
    async next(): Promise<ServerEvent | undefined> {
      if (!isAsked && !isOver) ask();
      while (!isOver && !signal.aborted) {
        const found = take();
        if (found || isOver) return found;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
      return undefined;
    },
  };
}
