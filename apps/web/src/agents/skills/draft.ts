import type { SessionStep } from '@troupe/contract';
import { SKILL_BOUNDS } from '@troupe/domain';

/** A run written down as a skill, for its owner to edit: what was asked, what was done, what went wrong on the way. */

const MOST_STEPS = 60;
const MOST_PITFALLS = 10;
const ARGS = 200;
const ASKED = 1000;
const ANSWER = 1500;
/** Of a text, however long: no more of it is shown, whatever is left out. */
const LOOKED_AT = 20_000;

/** Notes of the agent to itself are no steps of the work. */
const ASIDE = new Set(['think', 'create_todos', 'update_todo', 'list_todos', 'activate_skill', 'read_skill_file']);

interface Call {
  tool: string;
  args: string;
  result: string;
  isError: boolean;
}

/** What looks like a secret stays out, wherever it stood. */
const SECRETS =
  /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bAKIA[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abp]-[A-Za-z0-9-]{10,}|\beyJ[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+){0,2}|\bBearer\s+[^\s"']{8,}|(?<=\b(?:password|passwd|secret|token|api[-_]?key)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;&]{4,}|:\/\/[^\s/:@]{1,100}:[^\s/@]{1,100}@/gi;
const LEFT_OUT = '[left out]';

export const cleaned = (text: string): string =>
  text.replace(SECRETS, (found) => (found.startsWith('://') ? '://' : LEFT_OUT));
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
const line = (text: string, most: number): string =>
  cut(cleaned(cut(text, LOOKED_AT)).replace(/\s+/g, ' ').trim(), most);
const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;

function callsOf(steps: readonly SessionStep[]): Call[] {
  const results = new Map(
    steps.flatMap((step) => (step.type === 'tool_result' && step.callId ? [[step.callId, step] as const] : [])),
  );
  return steps
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .flatMap(({ callId, tool, args }) => {
      const result = results.get(callId);
      return result ? [{ tool, args, result: result.content ?? '', isError: result.isError ?? false }] : [];
    });
}

/** What a call was about: its command, path or address, or all that was said. */
function about({ args }: Call): string {
  try {
    const given = JSON.parse(args) as Record<string, unknown>;
    const main = ['cmd', 'path', 'url', 'query', 'task']
      .map((key) => given[key])
      .find((one) => typeof one === 'string');
    return line(typeof main === 'string' ? main : JSON.stringify(given), ARGS);
  } catch {
    // Arguments that were no JSON: shown as the model wrote them.
    return line(args, ARGS);
  }
}

const stepLine = (call: Call, index: number): string => {
  const what = about(call);
  return `${index + 1}. ${code(call.tool)}${what === '' || what === '{}' ? '' : `: ${code(what)}`}`;
};

/** The first calls that failed, and what was done instead. */
function pitfalls(calls: readonly Call[]): string[] {
  const failed = calls.flatMap((call, index) => (call.isError ? [{ call, index }] : [])).slice(0, MOST_PITFALLS);
  return failed.map(({ call, index }) => {
    const next = calls.slice(index + 1).find(({ isError }) => !isError);
    const instead = next ? ` What worked then: ${code(next.tool)} with ${code(about(next))}.` : '';
    return `- ${code(call.tool)} with ${code(about(call))} failed: ${line(call.result, ARGS)}.${instead}`;
  });
}

export function nameOf(asked: string): string {
  const words = asked
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const name = (words ?? []).slice(0, 6).join('-').slice(0, 40).replace(/-+$/, '');
  return name === '' ? 'from-a-run' : name;
}

export const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')];

export interface Draft {
  name: string;
  description: string;
  body: string;
}

/** From the steps of one run, its prompt first. */
export function draftOf(steps: readonly SessionStep[]): Draft {
  const asked = cleaned(cut(steps.find(({ type }) => type === 'user')?.content ?? '', LOOKED_AT));
  const calls = callsOf(steps).filter(({ tool }) => !ASIDE.has(tool));
  const good = calls.filter(({ isError }) => !isError);
  const counts = new Map<string, number>();
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const last = steps.findLast(({ type, content }) => type === 'assistant' && content)?.content ?? '';
  const what = line(asked, 200).replace(/[.!?…]+$/, '') || 'a task that was done before';
  const more = good.length - MOST_STEPS;
  const body = [
    `# ${what}`,
    'Written from a run. Cut what belonged to that one case, and say what holds for all.',
    ...section('What was asked', [`> ${cut(asked, ASKED).trim().replaceAll('\n', '\n> ')}`]),
    ...section('Steps', [
      ...good.slice(0, MOST_STEPS).map(stepLine),
      ...(more > 0 ? [`${MOST_STEPS + 1}. … and ${more} more`] : []),
    ]),
    ...section(
      'Tools used',
      [...counts].map(([tool, times]) => `- ${code(tool)}, ${times === 1 ? 'once' : `${times} times`}`),
    ),
    ...section('Pitfalls', pitfalls(calls)),
    ...section('The answer that was given', [
      `> ${cut(cleaned(cut(last, LOOKED_AT)), ANSWER)
        .trim()
        .replaceAll('\n', '\n> ')}`,
    ]),
  ].join('\n\n');
  const description = `How this was done: ${what}. Use it when the same is asked again.`;
  return { name: nameOf(asked), description: cut(description, SKILL_BOUNDS.description - 1), body };
}
