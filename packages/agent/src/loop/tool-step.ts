import { approvalFor, type ApprovalRule } from '@troupe/domain';
import { childOf, withTrace } from '@troupe/kernel';
import { NOTHING_SPENT, type Question, type SessionEventBody, type Spent } from '../session/events.ts';
import { remaining } from './limits.ts';
import type { Turn } from './model-step.ts';
import type { RunDeps } from './run.ts';
import { storesIn, toolsIn } from './strangers.ts';
import { readSession, type PendingCall } from '../session/session.ts';
import { activeSkills } from '../skills/active.ts';
import { failed, type Tool, type ToolContext, type ToolResult } from '../tools/tool.ts';

/** Runs the calls that the model asked for, one after another. */

const MAX_RESULT_CHARACTERS = 60_000;
const NO_RESULT = 'The caller gave no result.';
const SAID_INSTEAD = 'They wrote in the conversation instead: what they said stands below.';

/** `waits`: at least one call needs somebody's approval or the caller's result, and everything else is done. */
export async function toolStep(deps: RunDeps, turn: Turn): Promise<'goes on' | 'waits'> {
  const { run } = turn;
  const tools = new Map((await toolsIn(deps, turn)).map((tool) => [tool.name, tool]));
  const { pending, lastAsked, lastSaid } = readSession(run.events());
  for (const call of pending) {
    if (call.caller) {
      // Whoever says something else instead will not come back with it.
      if (lastAsked > lastSaid) await run.commit([resultEvent(call, failed(NO_RESULT), NOTHING_SPENT)]);
      continue;
    }
    const ready = await readyCall(turn, call, tools.get(call.tool), { lastAsked, lastSaid });
    if (!ready) continue;
    await runCall(deps, turn, ready, tools);
    if (readSession(run.events()).cancelled) return 'goes on';
  }
  return askForApproval(deps, turn, tools);
}

/** The call as it can be run now; undefined: it waits for somebody, or has its result. */
async function readyCall(
  { run }: Turn,
  call: PendingCall,
  tool: Tool | undefined,
  { lastAsked, lastSaid }: { lastAsked: number; lastSaid: number },
): Promise<PendingCall | undefined> {
  if (!needsApproval(run.definition, call, tool)) return call;
  if (hasStopped(call, tool)) {
    const { approvalId = '', callId, askedAt = 0 } = call;
    if (lastAsked <= askedAt) return undefined;
    // The words are for the agent: who else could have said them is not known to the one who asked.
    await run.commit([{ type: 'approval_decided', approvalId, callId, approved: false, by: 'conversation' }]);
    return { ...call, approval: 'denied' };
  }
  if (lastAsked > lastSaid && isQuestion(call, tool)) await run.commit(saidInstead(call));
  return undefined;
}

/** It had begun, and stopped in the middle to ask. */
const hasStopped = ({ question }: PendingCall, tool: Tool | undefined): boolean =>
  question !== undefined && tool !== undefined && tool.asks === undefined;

/** What the owner says to this call, by the tool and by its arguments. */
function ruleFor(definition: Turn['run']['definition'], call: PendingCall, tool: Tool): ApprovalRule {
  const { properties } = tool.parameters;
  const takes = typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined;
  return approvalFor(definition, { ...tool, takes }, argumentsOf(call));
}

function argumentsOf({ args }: PendingCall): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = args.trim() === '' ? {} : JSON.parse(args);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    // It is not run: the model is told.
    return undefined;
  }
}

const isQuestion = (call: PendingCall, tool: Tool | undefined): boolean =>
  tool?.asks !== undefined && (call.approval === 'pending' || call.approval === 'none');

/** Whoever is asked and says something in the conversation has answered: nobody waits for more. */
function saidInstead(call: PendingCall): SessionEventBody[] {
  const { approvalId, callId } = call;
  const decided = { type: 'approval_decided' as const, callId, approved: true, by: 'conversation' };
  const ended = resultEvent(call, { content: SAID_INSTEAD }, NOTHING_SPENT);
  return approvalId === undefined ? [ended] : [{ ...decided, approvalId }, ended];
}

/** What it asks a person; undefined: it is no question, or not a right one, which the model is told. */
const questionIn = (call: PendingCall, tool: Tool): Question | undefined => tool.asks?.(argumentsOf(call));

const needsApproval = (definition: Turn['run']['definition'], call: PendingCall, tool: Tool | undefined): boolean =>
  tool !== undefined &&
  !call.caller &&
  (call.approval === 'none' || call.approval === 'pending') &&
  (hasStopped(call, tool) || waitsForSomebody(ruleFor(definition, call, tool), call, tool));

/** A question is asked whatever the rules say, but not where the owner wants none. */
const waitsForSomebody = (rule: ApprovalRule, call: PendingCall, tool: Tool): boolean =>
  tool.asks ? rule !== 'deny' && questionIn(call, tool) !== undefined : rule === 'ask';

async function askForApproval(deps: RunDeps, { run }: Turn, tools: Map<string, Tool>): Promise<'goes on' | 'waits'> {
  const state = readSession(run.events());
  const waiting = state.pending.filter((call) => needsApproval(run.definition, call, tools.get(call.tool)));
  const isCalling = state.pending.some(({ caller }) => caller);
  if ((waiting.length === 0 && !isCalling) || state.cancelled) return 'goes on';
  const requests = waiting
    .filter(({ approval }) => approval === 'none')
    .map((call) => requestOf(deps, call, questionIn(call, tools.get(call.tool)!)));
  return (await run.conclude('waiting', requests)) ? 'waits' : 'goes on';
}

function requestOf({ newId }: RunDeps, call: PendingCall, question: Question | undefined): SessionEventBody {
  const { callId, tool, args } = call;
  return { type: 'approval_requested', approvalId: newId(), callId, tool, args, ...(question && { question }) };
}

async function runCall(deps: RunDeps, turn: Turn, call: PendingCall, tools: Map<string, Tool>): Promise<void> {
  const { run, runId } = turn;
  const tool = tools.get(call.tool);
  const refusal = refuse(turn, call, tool, [...tools.keys()]);
  if (refusal !== undefined || tool === undefined) {
    await run.commit([resultEvent(call, failed(refusal ?? ''), NOTHING_SPENT)]);
    return;
  }
  // A call that may run again needs no mark: whether it had begun makes no difference.
  if (!tool.repeatable) await run.commit([{ type: 'tool_started', callId: call.callId, tool: call.tool }]);
  const started = deps.now();
  const trace = turn.trace && childOf(turn.trace);
  const result = await withTrace(trace, () => invoke(deps, turn, call, tool));
  const ms = deps.now() - started;
  const { agentId } = deps;
  if (result.asks) {
    await run.commit([requestOf(deps, call, result.asks)]);
    return;
  }
  deps.onTool?.({ agentId, runId, callId: call.callId, tool: tool.name, ms, success: !result.isError, trace });
  const spent = result.spent ?? NOTHING_SPENT;
  const ended = resultEvent(call, result, { ...spent, ms: Math.max(ms, spent.ms) });
  const by = run.definition.name;
  await run.commit(result.handoff ? [ended, { type: 'handoff', to: result.handoff, by }] : [ended]);
}

/** Why a call is not run at all, as the model is told. */
function refuse(
  { run: { definition } }: Turn,
  call: PendingCall,
  tool: Tool | undefined,
  names: string[],
): string | undefined {
  if (!tool) return `There is no tool ${call.tool}. Tools: ${names.join(', ') || 'none'}.`;
  if (ruleFor(definition, call, tool) === 'deny') return `The owner does not allow ${tool.name}.`;
  if (call.approval === 'denied' && !hasStopped(call, tool)) return refusal(call, tool);
  if (call.started && !tool.repeatable) {
    return `This call of ${tool.name} was interrupted by a restart. It may have had an effect; check before you repeat it.`;
  }
  return undefined;
}

/** In their own words, where they gave some. */
function refusal({ answer }: PendingCall, tool: Tool): string {
  const refused = tool.asks ? 'They do not want to answer.' : `The owner refused this call of ${tool.name}.`;
  return answer === undefined || answer.trim() === '' ? refused : `${refused} They say: ${answer}`;
}

async function invoke(deps: RunDeps, turn: Turn, call: PendingCall, tool: Tool): Promise<ToolResult> {
  const { run, limits, signal } = turn;
  const { run: current, spent } = readSession(run.events());
  const left = remaining(limits, spent);
  let args: unknown;
  try {
    args = call.args.trim() === '' ? {} : JSON.parse(call.args);
  } catch {
    return failed('The arguments are not valid JSON.');
  }
  const timeout = AbortSignal.timeout(Math.max(1, left.maxSeconds) * 1000);
  const context = {
    agentId: deps.agentId,
    sessionId: run.sessionId,
    callId: call.callId,
    definition: run.definition,
    skills: activeSkills(run.events()),
    remaining: left,
    run: { seq: current?.seq ?? 0, depth: current?.depth ?? 0 },
    background: deps.background,
    answer: call.answer,
    person: personIn(run.definition, call, tool),
    stores: storesIn(run.events())?.session,
    held: turn.held,
    signal: AbortSignal.any([signal, timeout]),
  };
  try {
    const call = () => tool.run(args, context);
    const { sessionId } = run;
    const result = deps.files ? await deps.files.during({ sessionId, owner: turn.owner }, call) : await call();
    return { ...result, content: capped(result.content) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (timeout.aborted) return failed(`${tool.name} was stopped: the run’s time is used up.`);
    deps.log.warn({ err: error, tool: tool.name, agentId: deps.agentId }, 'tool failed');
    return failed(error instanceof Error ? error.message : 'The tool failed.');
  }
}

/** Whoever can be asked in the middle of a call, and what they said; undefined: the owner wants no questions. */
function personIn(definition: Turn['run']['definition'], call: PendingCall, tool: Tool): ToolContext['person'] {
  const own = { name: 'user_prompt', toolset: 'user_prompt' };
  if (approvalFor(definition, own, undefined) === 'deny') return undefined;
  const { question, approval, answer } = call;
  if (!question || !hasStopped(call, tool)) return {};
  return { said: { question, approved: approval === 'approved', answer } };
}

export function capped(content: string): string {
  if (content.length <= MAX_RESULT_CHARACTERS) return content;
  return `${content.slice(0, MAX_RESULT_CHARACTERS)}\n[${content.length - MAX_RESULT_CHARACTERS} more characters were cut off]`;
}

export const resultEvent = ({ callId, tool }: { callId: string; tool: string }, result: ToolResult, spent: Spent) =>
  ({
    type: 'tool_result',
    callId,
    tool,
    content: result.content,
    isError: result.isError ?? false,
    spent,
    ...(result.pictures && result.pictures.length > 0 && { attachments: result.pictures }),
  }) satisfies SessionEventBody;
