import {
  CASE_INPUT,
  CASE_SECONDS,
  type EvaluationCheck,
  type EvaluationStub,
  type SessionStep,
} from '@troupe/contract';
import { namedInTrial } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { CaseValues } from './store.ts';

const NAME = 60;
const MOST_CALLED = 5;
const MOST_STUBS = 20;
const STUB = 4_000;
const SECONDS_AT_LEAST = 30;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;

/** Notes of the agent to itself are nothing to expect. */
const ASIDE = new Set(['think', 'create_todos', 'update_todo', 'list_todos']);

/** What the run did without a failure. */
function calledIn(steps: readonly SessionStep[]): { tool: string; result: string }[] {
  const results = new Map(
    steps.flatMap((step) => (step.type === 'tool_result' && step.callId ? [[step.callId, step] as const] : [])),
  );
  return steps
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .flatMap(({ callId, tool }) => {
      const result = results.get(callId);
      return result && !result.isError && !ASIDE.has(tool) ? [{ tool, result: result.content ?? '' }] : [];
    });
}

/**
 * A case from what happened: the same prompt, the same tools, twice the time. What its words should say nobody but the
 * owner knows, so only that there are some is expected of them.
 */
export function caseOf(steps: readonly SessionStep[]): CaseValues {
  const [asked] = steps;
  const input = asked?.content ?? '';
  if (input.trim() === '') throw new AppError(404, 'Run not found');
  if (input.length > CASE_INPUT)
    throw new AppError(409, `The prompt of this run is too long for a case (max ${CASE_INPUT})`);
  const called = calledIn(steps);
  const tools = [...new Set(called.map(({ tool }) => tool))];
  const outside = new Map(called.filter(({ tool }) => !namedInTrial(tool)).map(({ tool, result }) => [tool, result]));
  const seconds = steps.reduce((sum, { spent }) => sum + (spent?.ms ?? 0), 0) / 1000;
  const checks: EvaluationCheck[] = [
    { kind: 'regex', pattern: '\\S' },
    ...tools.slice(0, MOST_CALLED).map((tool) => ({ kind: 'called' as const, tool })),
  ];
  const stubs: EvaluationStub[] = [...outside]
    .slice(0, MOST_STUBS)
    .map(([tool, result]) => ({ tool, result: cut(result, STUB) }));
  const maxSeconds = Math.min(CASE_SECONDS.most, Math.max(SECONDS_AT_LEAST, Math.ceil(seconds * 2)));
  return { name: cut(input.replace(/\s+/g, ' ').trim(), NAME), input, checks, stubs, maxSeconds };
}
