import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import type { Question } from '../session/events.ts';
import { untilAborted } from '../until-aborted.ts';
import { contentOf, questionOf } from './mcp-form.ts';
import type { Holding, PersonSaid, ToolContext, ToolResult } from './tool.ts';

/**
 * Servers that want to know something of a person in the middle of a call. The call stays open while the run rests, as a
 * question of the agent's own would rest. One that has not lasted so long is made again, and what was said is its answer.
 */

const CALL_MS = 120_000;
/** Of one call: whoever is asked for more is left in peace. */
const MOST_QUESTIONS = 10;
const URL_REQUIRED = -32_042;
const MOST_PAGES = 3;

const DECLINED: ElicitResult = { action: 'decline' };
const CANCELLED: ElicitResult = { action: 'cancel' };

/** A question that waits, and where its answer goes. */
interface Waiting {
  asked: ElicitRequestParams;
  question: Question;
  reply: (result: ElicitResult) => void;
}

/** One call at a server, until its result is there. */
export interface OpenCall extends Holding {
  /** What is to be said to the server; resolves when it is known. */
  elicit: (asked: ElicitRequestParams) => Promise<ElicitResult>;
  waits: () => boolean;
  /** What the person said; false: nothing waits for it. */
  hear: (said: PersonSaid) => boolean;
  /** What comes first: a question, or the end. */
  next: (signal: AbortSignal) => Promise<ToolResult>;
}

interface Opening {
  server: string;
  /** Left out: nobody can be asked. */
  person: ToolContext['person'];
  make: (open: OpenCall, signal: AbortSignal) => Promise<ToolResult>;
}

/** What was wrong with an answer before may stand above it. */
const isSame = ({ title, message: asked }: Question, fresh: Question): boolean =>
  title === fresh.title && asked.endsWith(fresh.message);

class AskingCall implements OpenCall {
  readonly #opening: Opening;
  readonly #stop = new AbortController();
  readonly #result: Promise<ToolResult>;
  readonly #queue: Waiting[] = [];
  #isOver = false;
  #news = Promise.withResolvers<void>();
  #asked = 0;
  /** What was said before the call was made again. */
  #known: PersonSaid | undefined;

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#known = opening.person?.said;
    this.#result = opening.make(this, this.#stop.signal);
    const over = (): void => void (this.#isOver = true);
    // It may fail while nobody looks; whoever looks next is told.
    void this.#result.then(over, over);
  }

  waits(): boolean {
    return this.#queue.length > 0;
  }

  async elicit(asked: ElicitRequestParams): Promise<ElicitResult> {
    const question = questionOf(this.#opening.server, asked);
    this.#asked += 1;
    if (!this.#opening.person || !question || this.#asked > MOST_QUESTIONS || this.#stop.signal.aborted)
      return DECLINED;
    const { promise, resolve: reply } = Promise.withResolvers<ElicitResult>();
    this.#queue.push({ asked, question, reply });
    const known = this.#known;
    if (known && this.#queue.length === 1 && isSame(known.question, question)) {
      this.#known = undefined;
      this.hear(known);
    } else this.#tell();
    return promise;
  }

  hear({ approved, answer = '' }: PersonSaid): boolean {
    const [first] = this.#queue;
    if (!first || this.#isOver) return false;
    const read = approved ? contentOf(first.asked, answer) : undefined;
    if (read && 'wrong' in read) {
      this.#asked += 1;
      const again = questionOf(this.#opening.server, first.asked, read.wrong);
      if (again && this.#asked <= MOST_QUESTIONS) {
        first.question = again;
        this.#tell();
        return true;
      }
    }
    this.#queue.shift();
    if (read === undefined) first.reply(DECLINED);
    else first.reply('wrong' in read ? CANCELLED : acceptedWith(first.asked, read.content));
    if (this.#queue.length > 0) this.#tell();
    return true;
  }

  async next(signal: AbortSignal): Promise<ToolResult> {
    const late = AbortSignal.timeout(CALL_MS);
    const either = AbortSignal.any([signal, late]);
    try {
      const asked = this.#queue[0] ? undefined : this.#news.promise.then(() => undefined);
      const ended = asked && (await untilAborted(Promise.race([this.#result, asked]), either));
      const question = this.#queue[0]?.question;
      if (ended || !question) return ended ?? (await untilAborted(this.#result, either));
      this.#news = Promise.withResolvers();
      return { content: '', asks: question };
    } catch (error) {
      throw late.aborted && !signal.aborted ? new Error('The server did not answer in time.') : error;
    }
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the call is not waited for any more'));
    for (const { reply } of this.#queue.splice(0)) reply(CANCELLED);
  }

  #tell(): void {
    this.#news.resolve();
  }
}

const acceptedWith = (asked: ElicitRequestParams, content: ElicitResult['content']): ElicitResult =>
  asked.mode === 'url' ? { action: 'accept' } : { action: 'accept', content };

/** Which call a server's question belongs to: the library does not say. */
export function createAsking() {
  const open = new Set<OpenCall>();
  const current = new AsyncLocalStorage<OpenCall>();

  /** Programs answer in one stream for all: then only a call that is alone can be meant. */
  function meant(): OpenCall | undefined {
    const own = current.getStore();
    if (own && open.has(own)) return own;
    const idle = [...open].filter((call) => !call.waits());
    const likely = idle.length > 0 ? idle : [...open];
    return likely.length === 1 ? likely[0] : undefined;
  }

  return {
    listen(client: Client): void {
      client.setRequestHandler('elicitation/create', ({ params }) => meant()?.elicit(params) ?? DECLINED);
    },
    async during<T>(call: OpenCall, work: () => Promise<T>): Promise<T> {
      open.add(call);
      try {
        return await current.run(call, work);
      } finally {
        open.delete(call);
      }
    },
  };
}

export type Asking = ReturnType<typeof createAsking>;

/** Runs a call, or goes on with the one that asked. */
export async function openOrGoOn(context: ToolContext, opening: Opening): Promise<ToolResult> {
  const { held, callId, signal, person } = context;
  const name = `mcp ${callId}`;
  const known = await held.find<AskingCall>(name);
  if (known && !(person?.said && known.hear(person.said))) await held.drop(name);
  const call = await held.get(name, () => new AskingCall(opening));
  let isOver = true;
  try {
    const result = await call.next(signal);
    isOver = result.asks === undefined;
    return result;
  } finally {
    if (isOver) await held.drop(name);
  }
}

interface NeedsPages {
  code?: unknown;
  data?: { elicitations?: unknown };
}

/** A server that answers with addresses to go to first is called again by who has been there. */
export async function afterPages(call: OpenCall, make: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await make();
  } catch (error) {
    const { code, data } = (error ?? {}) as NeedsPages;
    const pages = Array.isArray(data?.elicitations) ? (data.elicitations as ElicitRequestParams[]) : [];
    if (code !== URL_REQUIRED || pages.length === 0 || pages.length > MOST_PAGES) throw error;
    for (const page of pages) {
      const { action } = await call.elicit({ ...page, mode: 'url' } as ElicitRequestParams);
      if (action !== 'accept') throw error;
    }
    return make();
  }
}
