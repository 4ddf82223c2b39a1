import { answerable, AppError, eachOf } from '@troupe/kernel';
import type { Input, LiveEvent, LiveThought } from '../agent.ts';
import { ANSWER_LENGTH } from '@troupe/contract';
import type { Question, SessionEvent } from '../session/events.ts';
import { openTrail, readSession, type PendingCall, type Settled } from '../session/session.ts';
import { APPROVALS_SHOWN, PAGE_BYTES, type Session } from '../store/store.ts';
import {
  AgUiWriter,
  filesIn,
  foreignPart,
  runInput,
  snapshot,
  stateDelta,
  textOf,
  usageOf,
  type AgUiEvent,
  type AgUiMessage,
  type RunInput,
} from './ag-ui-wire.ts';
import { bring, type Given } from './brought.ts';
import { openEventStream, readJson, type Exchange } from './exchange.ts';
import { readAhead } from './read-ahead.ts';
import { keyFor, requireRight } from './rights.ts';

/**
 * AG-UI: a page runs the agent and draws what happens. A thread is a session of the caller's; a page sends the whole
 * conversation each time, of which what comes after the agent's last word is new. Tools of the page are called back in
 * the next run, what needs an approval interrupts the run, and the state of the page is changed by a tool of its own.
 */

/** As far back as calls may be open, and as much as a page is shown again. */
const TAIL = 100;

const STATE_TOOL = 'update_state';
const STATE_DEFINITION = {
  type: 'function' as const,
  function: {
    name: STATE_TOOL,
    description:
      'Changes the state that the page shows to its user. Each key of `changes` replaces that key of the state; null removes it.',
    parameters: {
      type: 'object',
      properties: { changes: { type: 'object', additionalProperties: true } },
      required: ['changes'],
    },
  },
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Clients always send one; an empty one is none. */
const isState = (value: unknown): value is Record<string, unknown> => isObject(value) && Object.keys(value).length > 0;

export async function agUi(exchange: Exchange): Promise<void> {
  const input = await readJson(exchange, runInput);
  const key = keyFor(exchange.principal, `ag-ui:${input.threadId}`);
  const [session] = await exchange.agent.store.sessions({ limit: 1, offset: 0, key });
  const tail = session ? await tailOf(exchange, session) : [];
  const pending = readSession(tail).pending;
  const decisions = await decisionsOf(exchange, input, session);
  const asked = askedOf(input, key, session, pending);
  if (!asked && decisions.length === 0) return showAgain(exchange, input, tail);
  const from = exchange.principal.kind;
  const run = new PageRun(exchange, input, pending);
  for (const { id, approved, answer } of decisions) await exchange.agent.decide(id, approved, from, answer);
  if (!asked) return run.play(session!.id, session!.lastSeq);
  let played: Promise<void> | undefined;
  const { given, earlier, ...asking } = asked;
  const attachments = await bring(exchange, given, earlier);
  await exchange.agent.tell({
    ...asking,
    attachments,
    from,
    // Reading along starts before the work does: no word is missed.
    onTaken: ({ sessionId, seq }) => {
      played = run.play(sessionId, seq);
      // Awaited below; until then a stream that broke off is nobody's.
      played.catch(() => undefined);
    },
  });
  await played;
}

function tailOf({ agent }: Exchange, { id, lastSeq }: Session): Promise<SessionEvent[]> {
  return agent.store.events(id, { after: Math.max(0, lastSeq - TAIL), limit: TAIL, bytes: PAGE_BYTES });
}

/** The approvals that are decided; all of them are there, or none is. */
async function decisionsOf(
  { agent, principal }: Exchange,
  { resume }: RunInput,
  session: Session | undefined,
): Promise<{ id: string; approved: boolean; answer?: string }[]> {
  if (!resume?.length) return [];
  requireRight(principal, 'decide');
  const open = new Set<string>();
  for (let offset = 0, isMore = true; isMore; offset += APPROVALS_SHOWN) {
    const page = await agent.store.pendingApprovals({ limit: APPROVALS_SHOWN, offset });
    for (const { approvalId, sessionId } of page) if (sessionId === session?.id) open.add(approvalId);
    isMore = page.length === APPROVALS_SHOWN;
  }
  return resume.map(({ interruptId: id, status, payload }) => {
    if (!open.has(id)) throw new AppError(404, 'Approval not found');
    if (status === 'cancelled') return { id, approved: false };
    const approved = isObject(payload) ? payload['approved'] : payload;
    if (typeof approved !== 'boolean') throw new AppError(400, 'resume: payload must be {"approved": true or false}');
    const answer = isObject(payload) ? payload['answer'] : undefined;
    return { id, approved, ...(typeof answer === 'string' && { answer: answer.slice(0, ANSWER_LENGTH) }) };
  });
}

/** What is new in the conversation; undefined: nothing. */
function askedOf(
  { runId, messages, tools, context, state }: RunInput,
  key: string,
  session: Session | undefined,
  pending: readonly PendingCall[],
): (Input & { given: Given[]; earlier: Given[] }) | undefined {
  const at = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const fresh = messages.slice(at);
  const results = fresh.flatMap((message) => resultOf(message, pending));
  const content = fresh
    .filter(({ role }) => role === 'user')
    .map(wordsOf)
    .join('\n\n')
    .trim();
  const given = fresh.filter(({ role }) => role === 'user').flatMap(filesIn);
  if (content === '' && results.length === 0 && given.length === 0) return undefined;
  const before = session ? [] : messages.slice(0, at);
  const history = before.flatMap(earlier);
  const told = content === '' && given.length === 0 ? [] : [...history, ...aroundOf(context, state)];
  const offered = (tools ?? []).map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters: parameters ?? { type: 'object', properties: {} } },
  }));
  const hasOwn = offered.some((one) => one.function.name === STATE_TOOL);
  const all = isState(state) && !hasOwn ? [...offered, STATE_DEFINITION] : offered;
  return {
    to: session ? { id: session.id } : { channel: 'ag-ui', key },
    inputId: `ag-ui:${runId}`,
    content,
    results,
    given,
    earlier: before.filter(({ role }) => role === 'user').flatMap(filesIn),
    history: told,
    ...(all.length > 0 && { wishes: { tools: all } }),
  };
}

function wordsOf(message: AgUiMessage): string {
  const foreign = foreignPart(message);
  if (foreign !== undefined)
    throw new AppError(400, `What is no file of a person’s is text here: leave out the part of type ${foreign}`);
  return textOf(message);
}

function resultOf(message: AgUiMessage, pending: readonly PendingCall[]) {
  if (message.role !== 'tool') return [];
  const call = pending.find(({ callId, caller }) => caller && callId === message.toolCallId);
  if (!call) return [];
  return [{ callId: call.callId, tool: call.tool, content: wordsOf(message) }];
}

type Told = NonNullable<Input['history']>[number];

function earlier(message: AgUiMessage): Told[] {
  const named = message.role === 'user' ? filesIn(message).map(({ name }) => `[attached: ${name}]`) : [];
  const content = [textOf(message), ...named].filter(Boolean).join('\n');
  if (content === '' || message.role === 'activity' || message.role === 'reasoning') return [];
  if (message.role === 'tool') return [{ role: 'user', content: `[A tool answered: ${content}]` }];
  return [{ role: message.role === 'developer' ? 'system' : message.role, content }];
}

/** What the page shows around the conversation. */
function aroundOf(context: RunInput['context'], state: unknown): Told[] {
  const lines = (context ?? []).map(({ description, value }) => `${description}: ${value}`);
  if (isState(state)) lines.push(`The state of the page: ${JSON.stringify(state)}`);
  return lines.length > 0 ? [{ role: 'system', content: lines.join('\n') }] : [];
}

/** Nothing is new: the conversation as it is kept. */
async function showAgain(exchange: Exchange, { threadId, runId }: RunInput, tail: readonly SessionEvent[]) {
  const out = openEventStream(exchange);
  for (const event of [
    { type: 'RUN_STARTED', threadId, runId },
    snapshot(tail, threadId),
    { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } },
  ])
    await out.send({ data: event });
  out.end();
}

/** A run as one page sees it. */
class PageRun {
  readonly #exchange: Exchange;
  readonly #ids: { threadId: string; runId: string };
  readonly #state: unknown;
  readonly #keys: Set<string>;
  /** The tool that changes the state is ours to answer; a page may have one of that name. */
  readonly #isOurs: boolean;
  readonly #writer = new AgUiWriter();
  readonly #usage: object[] = [];
  #pending: readonly PendingCall[];
  #approvals: { id: string; callId: string; tool: string; question?: Question | undefined }[] = [];

  constructor(exchange: Exchange, { threadId, runId, state, tools }: RunInput, pending: readonly PendingCall[]) {
    this.#exchange = exchange;
    this.#ids = { threadId, runId };
    this.#state = state;
    this.#keys = new Set(isObject(state) ? Object.keys(state) : []);
    this.#isOurs = isState(state) && !tools?.some(({ name }) => name === STATE_TOOL);
    this.#pending = pending;
  }

  async play(sessionId: string, seq: number): Promise<void> {
    const { agent, signal, deps } = this.#exchange;
    const events = readAhead(agent.attend(sessionId, seq, signal));
    const out = openEventStream(this.#exchange);
    const send = async (list: readonly AgUiEvent[]): Promise<void> => {
      for (const data of list) await out.send({ data });
    };
    await send([{ type: 'RUN_STARTED', ...this.#ids }]);
    if (isState(this.#state)) await send([{ type: 'STATE_SNAPSHOT', snapshot: this.#state }]);
    try {
      const trail = openTrail(seq);
      await eachOf(events, async (live) => {
        await send(this.#heard(live, seq));
        if (live.kind !== 'event') return false;
        trail.add(live.event);
        const ended = (await this.#stuck(sessionId, send)) ?? this.#ended(trail.answer());
        if (ended) await send([...this.#writer.end(), ended]);
        return ended !== undefined;
      });
    } catch (error) {
      const known = answerable(error);
      if (!known) deps.log.error({ err: error, agentId: agent.id }, 'a run for a page broke off');
      const message = known?.message ?? 'Internal server error';
      await send([...this.#writer.end(), { type: 'RUN_ERROR', message, code: String(known?.status ?? 500) }]);
    }
    out.end();
  }

  #heard(live: LiveEvent | LiveThought, seq: number): AgUiEvent[] {
    if (live.kind === 'thought') return live.saw < seq ? [] : this.#writer.thought(live.text);
    if (live.kind === 'delta') return live.saw < seq ? [] : this.#writer.delta(live);
    const { event } = live;
    if (event.type === 'assistant' && event.saw >= seq) {
      this.#pending = event.toolCalls.map((call) => ({ ...call, started: false, approval: 'none' }));
      this.#usage.push(usageOf(event));
      return this.#writer.said(event);
    }
    if (event.type === 'tool_result') {
      const call = this.#pending.find(({ callId }) => callId === event.callId);
      this.#pending = this.#pending.filter((one) => one !== call);
      // What the page answered it knows.
      return call && !call.caller ? [this.#writer.result(event)] : [];
    }
    if (event.type === 'approval_requested') {
      this.#mark(event.callId, 'pending');
      const { approvalId: id, callId, tool, question } = event;
      this.#approvals.push({ id, callId, tool, question });
    }
    if (event.type === 'approval_decided') {
      this.#mark(event.callId, event.approved ? 'approved' : 'denied');
      this.#approvals = this.#approvals.filter(({ id }) => id !== event.approvalId);
    }
    return [];
  }

  #mark(callId: string, approval: PendingCall['approval']): void {
    this.#pending = this.#pending.map((call) => (call.callId === callId ? { ...call, approval } : call));
  }

  /** Nothing goes on before somebody outside does something; the page's state is changed on the way. */
  async #stuck(sessionId: string, send: (list: readonly AgUiEvent[]) => Promise<void>): Promise<AgUiEvent | undefined> {
    const isOpen = this.#pending.some(({ caller, approval }) => !caller && approval !== 'pending');
    if (this.#pending.length === 0 || isOpen) return undefined;
    const changes = this.#pending.filter(({ caller, tool }) => caller && tool === STATE_TOOL && this.#isOurs);
    for (const call of changes) await this.#change(call, sessionId, send);
    this.#pending = this.#pending.filter((call) => !changes.includes(call));
    if (this.#pending.length === 0) return undefined;
    if (!this.#pending.some(({ approval }) => approval === 'pending')) return this.#finished({ type: 'success' });
    const known = this.#approvals.length > 0 ? this.#approvals : await this.#openApprovals(sessionId);
    return this.#finished({
      type: 'interrupt',
      interrupts: known.map(({ id, callId, tool, question }) => ({
        id,
        reason: question ? 'question' : 'approval',
        message: question?.message ?? `${tool} needs an approval before I can go on.`,
        toolCallId: callId,
        responseSchema: {
          type: 'object',
          properties: { approved: { type: 'boolean' }, ...(question && { answer: { type: 'string' } }) },
          required: ['approved'],
        },
      })),
    });
  }

  async #openApprovals(sessionId: string) {
    const page = await this.#exchange.agent.store.pendingApprovals({ limit: APPROVALS_SHOWN, offset: 0 });
    return page
      .filter((one) => one.sessionId === sessionId)
      .map(({ approvalId: id, callId, tool, question }) => ({ id, callId, tool, question }));
  }

  async #change(
    { callId, tool, args }: PendingCall,
    sessionId: string,
    send: (list: readonly AgUiEvent[]) => Promise<void>,
  ): Promise<void> {
    const changes = changesIn(args);
    if (changes) {
      await send([stateDelta(changes, this.#keys)]);
      for (const [key, value] of Object.entries(changes)) this.#keys[value === null ? 'delete' : 'add'](key);
    }
    const content = changes ? 'The page shows it.' : 'Error: `changes` must be an object.';
    const result = { callId, tool, content };
    await this.#exchange.agent.tell({
      to: { id: sessionId },
      content: '',
      results: [result],
      inputId: `ag-ui-state:${callId}`,
    });
  }

  #finished(outcome: object): AgUiEvent {
    return {
      type: 'RUN_FINISHED',
      ...this.#ids,
      outcome,
      ...(this.#usage.length > 0 && { usage: this.#usage }),
    };
  }

  #ended(settled: Settled | undefined): AgUiEvent | undefined {
    if (!settled) return undefined;
    const { outcome, reason } = settled;
    if (outcome === 'done') return this.#finished({ type: 'success' });
    if (outcome === 'cancelled') return this.#finished({ type: 'cancelled' });
    return { type: 'RUN_ERROR', message: reason ?? 'The model did not answer', code: outcome };
  }
}

function changesIn(args: string): Record<string, unknown> | undefined {
  try {
    const { changes } = JSON.parse(args) as { changes?: unknown };
    return isObject(changes) ? changes : undefined;
  } catch {
    // The model wrote something else; it is told so.
    return undefined;
  }
}
