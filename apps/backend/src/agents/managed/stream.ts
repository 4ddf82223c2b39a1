import { once, type EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { CallError, eventsOf, gateway, type Client } from '@troupe/contract';
import { ManagedTranslator, type ServerOf, type Step } from '@troupe/interop';
import { AppError, madeOf, pulled } from '@troupe/kernel';

/** What happens in a session, as it happens. */

export interface Talk {
  client: Client;
  /** Of the agent's own log; undefined: nothing was said yet. */
  at: { agentId: string; id: string } | undefined;
}

/** As far back as an approval may wait. */
export const TAIL = 200;

/** How often a stream looks whether another process has begun the conversation; of its own it hears at once. */
const LOOK_MS = 2000;
/** A stream ends after so long, and its reader comes again. */
const STREAM_MS = 24 * 3_600_000;

/** Until something was said there, or it is time to look. */
export async function heard(news: EventEmitter, id: string, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const until = { signal: AbortSignal.any([signal, over.signal]) };
  try {
    await Promise.race([once(news, id, until), delay(LOOK_MS, undefined, until)]);
  } finally {
    over.abort();
  }
}

const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

interface Telling {
  from: number;
  wait: () => Promise<void>;
  signal: AbortSignal;
  leave: () => void;
  serverOf: ServerOf;
}

/** What is said there from now on, as soon as there is a conversation. */
async function open(
  look: () => Promise<Talk>,
  found: Talk,
  { from, wait, signal, serverOf }: Telling,
): Promise<AsyncIterator<string>> {
  let here = found;
  while (!here.at) {
    await wait();
    here = await look();
  }
  // What was waited for before is known from the beginning of the newest steps on.
  const begin = Math.max(0, from - TAIL);
  const response = await here.client.open(gateway.conversations.follow, {
    params: here.at,
    headers: { 'last-event-id': String(begin) },
    signal,
    timeout: STREAM_MS,
  });
  const translator = new ManagedTranslator(serverOf);
  return madeOf(eventsOf(response), ({ data, event }) => {
    if (event === 'delta' || event === 'error') return [];
    const step = JSON.parse(data) as Step;
    const events = translator.add(step);
    return step.seq <= from
      ? []
      : [events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('')];
  });
}

export function told(look: () => Promise<Talk>, found: Talk, telling: Telling): AsyncIterable<string> {
  let isBegun = false;
  let isBroken = false;
  let texts: AsyncIterator<string> | undefined;

  async function next(): Promise<string | undefined> {
    if (isBroken) return undefined;
    try {
      texts ??= await open(look, found, telling);
      const { done, value } = await texts.next();
      return done === true ? undefined : value;
    } catch (error) {
      isBroken = true;
      // Who leaves is no failure of ours.
      return telling.signal.aborted ? undefined : failureText(error);
    }
  }

  return pulled(
    async () => {
      if (isBegun) return next();
      // At once, so that the client knows that it listens.
      isBegun = true;
      return PING;
    },
    async () => {
      telling.leave();
      await texts?.return?.();
    },
  );
}

function failureText(error: unknown): string {
  const message = error instanceof CallError || error instanceof AppError ? error.message : 'Internal server error';
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message } })}\n\n`;
}
