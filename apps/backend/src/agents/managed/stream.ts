import { once, type EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { CallError, eventsOf, gateway, type Client } from '@troupe/contract';
import { ManagedTranslator, type ServerOf, type Step } from '@troupe/interop';
import { AppError } from '@troupe/kernel';

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

export async function* told(
  look: () => Promise<Talk>,
  found: Talk,
  {
    from,
    wait,
    signal,
    leave,
    serverOf,
  }: { from: number; wait: () => Promise<void>; signal: AbortSignal; leave: () => void; serverOf: ServerOf },
): AsyncGenerator<string> {
  try {
    // At once, so that the client knows that it listens.
    yield 'event: ping\ndata: {"type":"ping"}\n\n';
    let here = found;
    while (!here.at) {
      await wait();
      here = await look();
    }
    // What was waited for before is known from the beginning of the newest steps on.
    const begin = Math.max(0, from - TAIL);
    const headers = { 'last-event-id': String(begin) };
    const response = await here.client.open(gateway.conversations.follow, {
      params: here.at,
      headers,
      signal,
      timeout: STREAM_MS,
    });
    const translator = new ManagedTranslator(serverOf);
    for await (const { data, event } of eventsOf(response)) {
      if (event === 'delta' || event === 'error') continue;
      const step = JSON.parse(data) as Step;
      const events = translator.add(step);
      if (step.seq <= from) continue;
      yield events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
    }
  } catch (error) {
    // Who leaves is no failure of ours.
    if (signal.aborted) return;
    const [type, message] =
      error instanceof CallError || error instanceof AppError
        ? ['api_error', error.message]
        : ['api_error', 'Internal server error'];
    yield `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
  } finally {
    leave();
  }
}
