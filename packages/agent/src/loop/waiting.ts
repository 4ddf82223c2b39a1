import { AGENT_NOT_FOUND, AGENT_STOPPED } from '@troupe/contract';
import { AppError, type Log } from '@troupe/kernel';
import type { Answer, LiveEvent } from '../agent.ts';
import { NOTHING_SPENT, type CallRecord, type Question, type SessionEvent } from '../session/events.ts';
import type { SessionNews } from '../session/news.ts';
import { canSettle, openTrail, readSession, type Settled, type Trail } from '../session/session.ts';
import type { ConversationStore } from '../store/conversations.ts';
import type { DefinitionStore } from '../store/definitions.ts';
import { PAGE_BYTES, type Delivered, type Session, type SessionStore } from '../store/store.ts';
import type { Audience } from './audience.ts';
import { Interrupted } from './run.ts';

/** Waiting for the answer to an input. */

const PAGE = 500;
/** Events that are read at once of those before. */
const BACK = 16;
const WAITING = 'This needs an approval before I can go on.';
type Steps = Pick<SessionStore, 'events'> & Pick<ConversationStore, 'session'>;

/** The code of an answer that breaks off because its agent is stopped. */
export const STOPPED = 'TROUPE_AGENT_STOPPED';
const isSaid = ({ type }: SessionEvent): boolean => type === 'assistant';

/** From the newest answer on: its calls are what may be waited for. Read backwards, since what was before may be large. */
async function sinceSaid(store: Steps, { id, lastSeq }: Session): Promise<SessionEvent[]> {
  let events: SessionEvent[] = [];
  for (let to = lastSeq; to > 0 && events.length < PAGE && !events.some(isSaid); to -= BACK) {
    const after = Math.max(0, to - BACK);
    events = [...(await store.events(id, { after, limit: to - after })), ...events];
  }
  return events;
}

/** For whoever can only read. */
const inWords = ({ message, options = [] }: Question): string =>
  [message, ...options.map((option) => `- ${option}`)].join('\n');

/** What the run of a session waits for from outside. */
async function waitsFor(
  store: Steps,
  session: Session,
): Promise<{ calls: CallRecord[]; words: string; asked: string[] }> {
  const events = await sinceSaid(store, session);
  const said = events.findLast((event) => event.type === 'assistant');
  const { pending } = readSession(events);
  const asked = pending.flatMap(({ question, approval }) =>
    question && approval === 'pending' ? [inWords(question)] : [],
  );
  const calls = pending.filter(({ caller }) => caller);
  return { calls, words: said?.type === 'assistant' ? said.content : '', asked };
}

export async function openCalls(store: Steps, sessionId: string): Promise<CallRecord[]> {
  const session = await store.session(sessionId);
  return session?.status === 'waiting' ? (await waitsFor(store, session)).calls : [];
}

function answer(sessionId: string, { outcome, seq, reply: words, reason, refusal, busy, spent }: Settled): Answer {
  const sentence = outcome === 'cancelled' ? 'The run was cancelled.' : (reason ?? '');
  const reply = outcome === 'done' ? words : [words, sentence].filter(Boolean).join('\n\n');
  const why = { ...(reason && { reason }), ...(refusal && { refusal }), ...(busy && { busy }) };
  return { sessionId, outcome, seq, reply, ...why, spent };
}

/** Reads on from where the trail ends. */
async function answerAfter(store: Steps, sessionId: string, trail: Trail): Promise<Answer | undefined> {
  for (;;) {
    const page = await store.events(sessionId, { after: trail.last(), limit: PAGE, bytes: PAGE_BYTES });
    page.forEach(trail.add);
    const settled = trail.answer();
    if (settled) return answer(sessionId, settled);
    if (page.length === 0) break;
  }
  const session = await store.session(sessionId);
  if (!session) throw new AppError(404, 'Session not found');
  if (session.status !== 'waiting') return undefined;
  const { calls, words, asked } = await waitsFor(store, session);
  if (calls.length > 0) return { sessionId, outcome: 'calls', reply: words, calls, spent: trail.spent() };
  return {
    sessionId,
    outcome: 'waiting',
    reply: asked.length > 0 ? asked.join('\n\n') : WAITING,
    spent: NOTHING_SPENT,
  };
}

export interface WaitDeps {
  agentId: string;
  store: Steps & Pick<DefinitionStore, 'definition'>;
  audience: Audience;
  log: Log;
  /** Tells when a session went on that another process works on. */
  news: SessionNews;
}

/** What broke off was stopped, or its agent is deleted. Where nobody can tell, as in a shutdown, it was stopped. */
async function whyBroken({ agentId, store, log }: WaitDeps, broken: Error): Promise<Error> {
  const stopped = broken instanceof Interrupted;
  if (!stopped && !(broken instanceof AppError && broken.status === 404)) return broken;
  const isThere = await store.definition().then(Boolean, (err: unknown) => {
    log.warn({ err, agentId }, 'an agent whose work broke off could not be looked up');
    return true;
  });
  if (!isThere) return new AppError(404, AGENT_NOT_FOUND);
  return stopped ? new AppError(503, AGENT_STOPPED, {}, { code: STOPPED }) : broken;
}

/** One who waits. */
class Wait {
  readonly #deps: WaitDeps;
  readonly #sessionId: string;
  readonly #trail: Trail;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  readonly #stopWatching: () => void;
  #stopNews: (() => void) | undefined;
  #looking = false;
  /** Something happened while it looked. */
  #again = false;
  #settled = false;

  constructor(
    deps: WaitDeps,
    { session, seq }: Delivered,
    resolve: (answer: Answer) => void,
    reject: (error: Error) => void,
  ) {
    this.#deps = deps;
    this.#sessionId = session.id;
    this.#trail = openTrail(seq);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stopWatching = deps.audience.watch(session.id, (live) => this.#hear(live), false);
  }

  begin(work: Promise<unknown> | undefined): void {
    if (work)
      work.then(
        () => this.#look(),
        (error: Error) => this.#broken(error),
      );
    else void this.#look();
  }

  #hear(live: LiveEvent): void {
    if (this.#settled || live.kind !== 'event') return;
    this.#trail.add(live.event);
    if (live.event.type === 'approval_requested') void this.#look();
    const found = canSettle(live.event) ? this.#trail.answer() : undefined;
    if (found) this.#finish(answer(this.#sessionId, found));
  }

  async #look(): Promise<void> {
    this.#again = true;
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#again && !this.#settled) {
        this.#again = false;
        const found = await answerAfter(this.#deps.store, this.#sessionId, this.#trail);
        if (found && !this.#settled) this.#finish(found);
      }
      // It is another's work: what comes is told from now on, and what came meanwhile at once.
      if (!this.#settled) this.#stopNews ??= this.#deps.news.watch(this.#sessionId, () => void this.#look());
    } catch (error) {
      await this.#fail(error as Error);
    } finally {
      this.#looking = false;
    }
  }

  // Another process has taken the session over: its answer is ours too.
  #broken(error: Error): Promise<void> {
    return error instanceof Interrupted && error.why === 'lost' ? this.#look() : this.#fail(error);
  }

  async #fail(error: Error): Promise<void> {
    if (this.#settled) return;
    this.#end();
    this.#reject(await whyBroken(this.#deps, error));
  }

  #finish(found: Answer): void {
    this.#end();
    this.#resolve(found);
  }

  #end(): void {
    this.#settled = true;
    this.#stopNews?.();
    this.#stopWatching();
  }
}

/** The answer to an input, whichever process brings it about. `work` is ours on it. */
export const waitForAnswer = (
  deps: WaitDeps,
  delivered: Delivered,
  work: Promise<unknown> | undefined,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    new Wait(deps, delivered, resolve, reject).begin(work);
  });
