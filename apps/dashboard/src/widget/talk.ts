import { readEvents } from './events.ts';

/** What the widget asks of the platform, as a visitor. */

export type Answerer = 'agent' | 'waiting' | 'person';

export interface Visit {
  token: string;
  theme: { title: string; greeting: string; colour: string; scheme: 'light' | 'dark' | 'auto' };
  handsOver: boolean;
  state: Answerer;
  hasTalked: boolean;
}

export interface Heard {
  message: (role: 'visitor' | 'agent' | 'person' | 'notice', text: string) => void;
  delta: (text: string, fresh: boolean) => void;
  /** The answer is over; with a text in place of it. */
  end: (text: string | undefined) => void;
  waits: (text: string) => void;
  state: (state: Answerer) => void;
  /** The chat is not there any more. */
  closed: (text: string) => void;
  /** The token did not count any more: it is another visitor now, whose conversation begins. */
  anew: () => void;
}

export interface Talk {
  visit: () => Promise<Visit>;
  /** A sentence to show when there will be no answer. */
  say: (message: string, id: string) => Promise<string | null>;
  handOver: () => Promise<Answerer>;
  /** Follows the conversation until it is told to stop. */
  listen: (heard: Heard) => void;
  stop: () => void;
}

interface TalkDeps {
  base: string;
  key: string;
  kept: { read: () => string | undefined; write: (token: string) => void };
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const OFFLINE = 'The connection is lost. Please try again.';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function refusal(response: Response): Promise<Refused> {
  const { error: text } = (await response.json().catch(() => ({}))) as { error?: unknown };
  return new Refused(response.status, typeof text === 'string' ? text : OFFLINE);
}

type Asked = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

/** How far a conversation was heard. */
interface Place {
  last: number;
  open: (init: Asked) => Promise<Response>;
}

/** True: there is nothing more to come. */
async function follow(place: Place, heard: Heard, signal: AbortSignal): Promise<boolean> {
  const headers: Record<string, string> = place.last > 0 ? { 'last-event-id': String(place.last) } : {};
  const response = await place.open({ headers, signal });
  if (!response.ok) throw await refusal(response);
  if (place.last === 0) heard.anew();
  for await (const { event, id, data } of readEvents(response)) {
    if (id > 0) place.last = id;
    if (event === 'message') heard.message(data.role ?? 'notice', data.text ?? '');
    else if (event === 'delta') heard.delta(data.text ?? '', data.fresh === true);
    else if (event === 'end') heard.end(data.text);
    else if (event === 'waits') heard.waits(data.text ?? '');
    else if (event === 'state') heard.state(data.state ?? 'agent');
    else if (event === 'closed') {
      heard.closed(data.text ?? '');
      return true;
    }
  }
  return false;
}

async function keepListening(place: Place, heard: Heard, signal: AbortSignal): Promise<void> {
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const before = place.last;
    try {
      if (await follow(place, heard, signal)) return;
    } catch (error) {
      const status = error instanceof Refused ? error.status : 0;
      if (status === 403 || status === 404) return heard.closed((error as Refused).message);
      // Said by the next message: it makes a new visitor.
      if (status === 401) return;
    }
    if (place.last > before) wait = FIRST_WAIT_MS;
    await pause(wait);
  }
}

export function createTalk({ base, key, kept }: TalkDeps): Talk {
  let token = kept.read();
  const place: Place = { last: 0, open: (init) => request('events', init) };
  let listening: AbortController | undefined;

  const request = (path: string, init: Asked): Promise<Response> =>
    fetch(`${base}/api/widgets/${encodeURIComponent(key)}/${path}`, {
      credentials: 'omit',
      cache: 'no-store',
      ...init,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...init.headers },
    });

  async function post<T>(path: string, body: object): Promise<T> {
    const response = await request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    if (!response) throw new Refused(0, OFFLINE);
    if (!response.ok) throw await refusal(response);
    return (await response.json()) as T;
  }

  async function visit(): Promise<Visit> {
    const found = await post<Visit>('visitors', token === undefined ? {} : { token });
    token = found.token;
    kept.write(token);
    return found;
  }

  /** Once more as somebody new when the token has ended. */
  async function asVisitor<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) throw error;
      token = undefined;
      place.last = 0;
      await visit();
      return work();
    }
  }

  return {
    visit,
    say: (message, id) =>
      asVisitor(async () => (await post<{ text: string | null }>('messages', { message, id })).text),
    handOver: () => asVisitor(async () => (await post<{ state: Answerer }>('handover', {})).state),
    listen(heard) {
      if (listening && !listening.signal.aborted) return;
      const own = new AbortController();
      listening = own;
      void keepListening(place, heard, own.signal).finally(() => own.abort());
    },
    stop: () => listening?.abort(),
  };
}
