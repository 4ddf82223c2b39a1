import type { CallOptions, ChatDelta, ChatMessage, ChatRequest, ChatResult, Spending, ToolCall } from '@troupe/ai';
import { AppError, withTrace, type Trace } from '@troupe/kernel';
import { picturesIn } from './attached.ts';
import { cutPoint, summaryRequest } from './compaction.ts';
import {
  addSpent,
  type Busy,
  type Refusal,
  type RunOutcome,
  type SessionEventBody,
  type Spent,
} from '../session/events.ts';
import { remaining, timeIsUp } from './limits.ts';
import { conversation, estimateTokens, systemPrompt, toolDefinitions } from './prompt.ts';
import { isForStranger, storesIn, toolsIn } from './strangers.ts';
import { saidBy, shownBy, wishesOf } from './traits.ts';
import type { RunDeps, RunLog } from './run.ts';
import { memoryScope, type RunLimits } from '@troupe/domain';
import { readSession } from '../session/session.ts';
import { keptSkills } from '../skills/active.ts';
import { nearOf } from '../store/recall.ts';
import type { Recalled } from '../store/store.ts';
import { shownIn } from '../tools/deferred.ts';
import type { Held, Tool } from '../tools/tool.ts';

/** One call of the model, and what it said into the log. */

export interface Turn {
  run: RunLog;
  runId: string;
  /** Who holds the session's lease. */
  owner: string;
  trace: Trace | undefined;
  limits: RunLimits;
  held: Held;
  signal: AbortSignal;
  modelSignal: AbortSignal;
}

/** The model could not be asked, or did not answer. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  /** How the run ends by it. */
  readonly outcome: RunOutcome;

  constructor(message: string, { outcome = 'failed', ...options }: ErrorOptions & { outcome?: RunOutcome } = {}) {
    super(message, options);
    this.outcome = outcome;
  }

  /** Set when there is no money or quota left for the call. */
  get refusal(): Refusal | undefined {
    const { cause } = this;
    return cause instanceof AppError && cause.extra['code'] === 'QUOTA_EXCEEDED' ? cause.extra : undefined;
  }

  /** Set when the same may work a little later. */
  get busy(): Busy | undefined {
    const { cause } = this;
    if (!(cause instanceof AppError) || cause.status !== 429 || this.refusal) return undefined;
    const seconds = Number(cause.headers['retry-after'] ?? Number.NaN);
    return Number.isFinite(seconds) ? { retryAfter: seconds } : {};
  }
}

/** The model was stopped in the middle: what it had said, and what that cost. */
export class StoppedAnswer extends Error {
  override readonly name = 'StoppedAnswer';
  readonly event: SessionEventBody & { type: 'assistant' };

  constructor(event: SessionEventBody & { type: 'assistant' }, options: ErrorOptions) {
    super('the model was stopped', options);
    this.event = event;
  }
}

export const RECALLED = 5;
const ANSWER_ROOM = 8192;
/** A model, or who plays one, may say anything: what is kept of one answer. */
const MAX_ANSWER_CHARACTERS = 256 * 1024;
/** An answer that is longer by far has no end, and is not waited for. */
const ENDLESS_CHARACTERS = 4 * MAX_ANSWER_CHARACTERS;
const MAX_CALLS = 64;
const MAX_TOOL_NAME = 200;
/** No JSON, so that the call fails and the model is told. */
const TOO_LONG = '[arguments too long]';

export async function modelStep(deps: RunDeps, turn: Turn): Promise<'ended' | 'goes on'> {
  const { run } = turn;
  const tools = shownIn(run.definition, await toolsIn(deps, turn), run.events());
  let messages = await prompt(deps, run, tools);
  if (estimateTokens(messages) > deps.compactAt && (await compact(deps, turn)))
    messages = await prompt(deps, run, tools);

  const saw = readSession(run.events()).lastSeq;
  const started = deps.now();
  const { request, isCallers } = requestFor(run, messages, tools);
  const { message, model, provider, usage, costMicros } = await askModel(deps, turn, request);
  const counted = countedIn(usage);
  const spent: Spent = {
    turns: 1,
    tokens: usage.total_tokens,
    costMicros,
    ms: deps.now() - started,
    ...(usage.completion_tokens > 0 && { outputTokens: usage.completion_tokens }),
    ...(counted.cached !== undefined && { cachedTokens: counted.cached }),
    ...(counted.thought !== undefined && { thoughtTokens: counted.thought }),
  };
  const answer: SessionEventBody = {
    type: 'assistant',
    content: kept(message.content ?? ''),
    // Named by us: some providers use the same ids in every answer.
    toolCalls: (message.tool_calls ?? []).slice(0, MAX_CALLS).map(({ function: { name, arguments: args } }) => ({
      callId: deps.newId(),
      tool: name.slice(0, MAX_TOOL_NAME),
      args: args.length > MAX_ANSWER_CHARACTERS ? TOO_LONG : args,
      ...(isCallers(name) && { caller: true as const }),
    })),
    model,
    spent,
    saw,
    provider,
    tokens: counted,
  };
  const tokens = usage.total_tokens;
  const next = answer.toolCalls.length === 0 ? await handsTo(deps, run) : undefined;
  if (next) {
    await run.commit([{ ...answer, handsOver: true }, next], { tokens });
    return 'goes on';
  }
  if (answer.toolCalls.length === 0) {
    const total = addSpent(readSession(run.events()).spent, spent);
    if (await run.conclude('idle', [answer, { type: 'run_ended', outcome: 'done', spent: total }], { tokens }))
      return 'ended';
  }
  await run.commit([answer], { tokens });
  return 'goes on';
}

/** An agent that has to hand over does so with its answer, if the other can be had. */
async function handsTo({ lend }: RunDeps, { definition }: RunLog): Promise<SessionEventBody | undefined> {
  const to = definition.team?.forceHandoff;
  if (!to || !(await lend?.(to).catch(() => undefined))) return undefined;
  return { type: 'handoff', to: { agentId: to.agentId, name: to.name }, by: definition.name };
}

function countedIn({ prompt_tokens, completion_tokens, ...details }: ChatResult['usage']) {
  const cached = details.prompt_tokens_details?.cached_tokens ?? 0;
  const thought = details.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    in: prompt_tokens,
    out: completion_tokens,
    ...(cached > 0 && { cached }),
    ...(thought > 0 && { thought }),
  };
}

/** The caller's tools stand beside the agent's; where both have one of a name, the caller has asked to be called. */
function requestFor(run: RunLog, messages: ChatMessage[], tools: readonly Tool[]) {
  const { run: current, finished } = readSession(run.events());
  const { tools: callers = [], tool_choice: choice, ...more } = current?.wishes ?? {};
  const { abilities: _abilities, instruction: _instruction, stores: _stores, ...wishes } = more;
  const isCallers = (name: string): boolean => callers.some((one) => one.function.name === name);
  const offered = [...toolDefinitions(tools.filter(({ name }) => !isCallers(name))), ...callers];
  const request: ChatRequest = {
    ...wishesOf(run.definition, run.events(), tools),
    ...wishes,
    messages,
    ...(offered.length > 0 && { tools: offered }),
    // Told to call for ever, a model would never answer.
    ...(choice !== undefined && finished.length === 0 && { tool_choice: choice }),
  };
  return { request, isCallers };
}

const kept = (text: string): string =>
  text.length <= MAX_ANSWER_CHARACTERS ? text : `${text.slice(0, MAX_ANSWER_CHARACTERS)}\n[the rest was cut off]`;

async function prompt(deps: RunDeps, run: RunLog, tools: readonly Tool[]): Promise<ChatMessage[]> {
  const { instruction } = readSession(run.events()).run?.wishes ?? {};
  const definition = instruction === undefined ? run.definition : { ...run.definition, instruction };
  const talk = conversation(saidBy(definition, run.events()), await picturesIn(run.events(), deps.picture));
  const question = run.events().findLast((event) => event.type === 'user');
  const memories =
    definition.tools.includes('memory') && question?.type === 'user' && !isForStranger(run.events())
      ? await recalledBy(deps, run, question.content)
      : [];
  const stores = storesIn(run.events());
  const shown = [...(await shownBy(definition, deps)), ...(stores ? [stores.says] : [])];
  return [{ role: 'system', content: systemPrompt(definition, tools, memories, shown) }, ...talk];
}

/** What the store has found on the way here was found by words. */
async function recalledBy({ store, meaning }: RunDeps, run: RunLog, query: string): Promise<Recalled['memories']> {
  const near = await nearOf(meaning, run.definition, query);
  const found = run.takeRecalled(query);
  if (found && !near) return found;
  return store.recall({ scope: memoryScope(run.definition), query, limit: RECALLED, near });
}

/** Sums older events up. False: there is nothing that can be cut off. */
async function compact(deps: RunDeps, turn: Turn): Promise<boolean> {
  const { run } = turn;
  const events = run.events();
  const upTo = cutPoint(events.filter(({ type }) => type !== 'compaction'));
  const state = readSession(events);
  if (upTo === undefined || state.run === undefined) return false;
  const earlier = events.filter(({ type }) => type === 'compaction').slice(-1);
  const cut = [...earlier, ...events.filter(({ seq, type }) => seq <= upTo && type !== 'compaction')];
  const started = deps.now();
  const { message, usage, costMicros } = await askModel(deps, turn, summaryRequest('', cut), { silent: true });
  const spent = { turns: 1, tokens: usage.total_tokens, costMicros, ms: deps.now() - started };
  const summary = message.content ?? '';
  const skills = keptSkills(cut);
  const event: SessionEventBody = {
    type: 'compaction',
    summary,
    upTo,
    spent: addSpent(state.spent, spent),
    run: state.run,
    ...(skills.length > 0 && { skills }),
    ...(state.acting && { acting: state.acting }),
  };
  await run.commit([event], { tokens: usage.total_tokens });
  return true;
}

/** Asks while the run has time. */
async function askModel(
  deps: RunDeps,
  turn: Turn,
  request: ChatRequest,
  { silent = false }: { silent?: boolean } = {},
): Promise<ChatResult> {
  const { limits, modelSignal } = turn;
  const time = new AbortController();
  const left = limits.maxSeconds * 1000 - readSession(turn.run.events()).spent.ms;
  const timer = setTimeout(() => time.abort(), left);
  try {
    return await tryModels(
      deps,
      { ...turn, modelSignal: AbortSignal.any([modelSignal, time.signal]) },
      request,
      silent,
    );
  } catch (error) {
    if (modelSignal.aborted || !time.signal.aborted) throw error;
    throw new ModelFailure(timeIsUp(limits), { outcome: 'limit', cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Tries the configured model, then its fallbacks. The model client sees to the money. */
async function tryModels(deps: RunDeps, turn: Turn, request: ChatRequest, silent: boolean): Promise<ChatResult> {
  const { model } = turn.run.definition.config;
  let failure: unknown;
  for (const name of [request.model ?? model.default, ...model.fallbacks]) {
    try {
      return await askOne(deps, turn, { ...request, model: name }, silent);
    } catch (error) {
      if (turn.modelSignal.aborted) throw error;
      failure = error;
      deps.log.warn({ err: error, model: name, agentId: deps.agentId }, 'model call failed');
      // No other model helps against an empty account.
      if (error instanceof AppError && (error.status === 401 || error.status === 402)) break;
    }
  }
  throw new ModelFailure(failure instanceof Error ? failure.message : 'The model did not answer', { cause: failure });
}

async function askOne(
  deps: RunDeps,
  turn: Turn,
  request: ChatRequest & { model: string },
  silent: boolean,
): Promise<ChatResult> {
  const { runId, run, limits, modelSignal: signal } = turn;
  const left = remaining(limits, readSession(run.events()).spent);
  const room = Math.min(ANSWER_ROOM, left.maxTokens);
  const most = Math.max(1, Math.min(room, request.max_tokens ?? room));
  const sent = left.maxTokens < ANSWER_ROOM ? { ...request, max_tokens: most } : request;
  const streamed = !silent && deps.audience.wantsText(run.sessionId);
  const started = deps.now();
  const heard: { said: string; cost?: Spending } = { said: '' };
  const options = { signal, runId, pictures: 'seen' as const, onGivenUp: (cost: Spending) => void (heard.cost = cost) };
  try {
    return await withTrace(turn.trace, () =>
      streamed
        ? collect(deps, turn, sent, options, (text) => (heard.said += text))
        : silent
          ? deps.model.chat(sent, options)
          : askWhole(deps, turn, sent, options),
    );
  } catch (error) {
    const { cost, said } = heard;
    if (silent || !cost || !signal.aborted) throw error;
    throw new StoppedAnswer(stoppedEvent(run, cost, said, deps.now() - started), { cause: error });
  }
}

const stoppedEvent = (run: RunLog, { model, usage, costMicros }: Spending, said: string, ms: number) => ({
  type: 'assistant' as const,
  content: kept(said),
  toolCalls: [],
  model,
  spent: { turns: 1, tokens: usage.total_tokens, costMicros, ms },
  saw: readSession(run.events()).lastSeq,
  stopped: true as const,
});

function charactersIn({ content = '', thoughts = [], toolCalls = [] }: ChatDelta): number {
  const thought = thoughts.reduce((sum, { text = '' }) => sum + text.length, 0);
  const called = toolCalls.reduce((sum, { function: part }) => sum + (part?.arguments?.length ?? 0) + 1, 0);
  return content.length + thought + called;
}

/** Nobody waits for the words, and somebody may for the thoughts. */
async function askWhole(
  { model, audience }: RunDeps,
  { run }: Turn,
  request: ChatRequest,
  options: CallOptions,
): Promise<ChatResult> {
  const saw = readSession(run.events()).lastSeq;
  const result = await model.chat(request, options);
  for (const { text } of result.message.thoughts ?? []) if (text) audience.thought(run.sessionId, text, saw);
  return result;
}

/** Reads a streamed answer, passing its text on as it comes. */
async function collect(
  deps: RunDeps,
  { run }: Turn,
  request: ChatRequest,
  options: CallOptions,
  onText: (text: string) => void,
): Promise<ChatResult> {
  const saw = readSession(run.events()).lastSeq;
  let content = '';
  const calls: ToolCall[] = [];
  let last: Awaited<ReturnType<typeof deps.model.chat>> | undefined;
  let heard = 0;
  for await (const delta of deps.model.stream(request, options)) {
    heard += charactersIn(delta);
    if (heard > ENDLESS_CHARACTERS) throw new ModelFailure('The model’s answer has no end');
    for (const { text } of delta.thoughts ?? []) if (text) deps.audience.thought(run.sessionId, text, saw);
    // More than is kept is not collected either.
    if (delta.content && content.length <= MAX_ANSWER_CHARACTERS) {
      // What another model wrote before it failed is not this one's.
      deps.audience.written(run.sessionId, delta.content, saw, content === '');
      content += delta.content;
      onText(delta.content);
    }
    for (const { index, id, function: part } of delta.toolCalls ?? []) {
      if (index >= MAX_CALLS) continue;
      const call = (calls[index] ??= { id: id ?? '', type: 'function', function: { name: '', arguments: '' } });
      if (id) call.id = id;
      if (call.function.name.length <= MAX_TOOL_NAME) call.function.name += part?.name ?? '';
      if (call.function.arguments.length <= MAX_ANSWER_CHARACTERS) call.function.arguments += part?.arguments ?? '';
    }
    if (delta.finishReason && delta.usage) {
      last = {
        id: delta.id,
        model: delta.model,
        provider: delta.provider,
        message: { role: 'assistant', content: null },
        finishReason: delta.finishReason,
        usage: delta.usage,
        usageEstimated: delta.usageEstimated ?? false,
        costMicros: delta.costMicros ?? 0,
      };
    }
  }
  if (!last) throw new ModelFailure('The model’s answer broke off');
  const made = calls.filter(Boolean);
  return {
    ...last,
    message: { role: 'assistant', content, ...(made.length > 0 && { tool_calls: made }) },
  };
}
