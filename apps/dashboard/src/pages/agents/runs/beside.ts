import { argsOf, effectOf } from '../conversations/effect.ts';
import { lineDiff } from '../skills/line-diff.ts';
import type { Bar, Run } from './waterfall.ts';

/** Two runs beside each other: which steps they have in common, and what each of them has alone. */

export interface Pair {
  key: string;
  one?: Bar;
  other?: Bar;
}

/** What makes two steps the same: another model that answers is still an answer. */
const sortOf = ({ kind, name }: Bar): string =>
  JSON.stringify(kind === 'tool' || kind === 'note' || kind === 'branch' ? [kind, name] : [kind]);

/** In the order of both, each step once. */
export function aligned(one: readonly Bar[], other: readonly Bar[]): Pair[] {
  const sorts = (bars: readonly Bar[]) => bars.map(sortOf).join('\n');
  if (one.length === 0 || other.length === 0)
    return [
      ...one.map((bar): Pair => ({ key: `${bar.key}-`, one: bar })),
      ...other.map((bar): Pair => ({ key: `-${bar.key}`, other: bar })),
    ];
  let [at, beside] = [0, 0];
  return lineDiff(sorts(one), sorts(other)).map(({ kind }): Pair => {
    const left = kind === 'added' ? undefined : one[at++];
    const right = kind === 'removed' ? undefined : other[beside++];
    return {
      key: `${left?.key ?? ''}-${right?.key ?? ''}`,
      ...(left && { one: left }),
      ...(right && { other: right }),
    };
  });
}

/** What the run had written when this step was over; without one, all that it has written. */
export function filesUntil({ bars }: Run, step?: Bar): string[] {
  const paths = bars
    .filter((bar) => bar.kind === 'tool' && !bar.isError && bar.seq <= (step?.seq ?? Infinity))
    .map(({ name, args = '' }) => effectOf(name, args))
    .flatMap((effect) => (effect.kind === 'file' || effect.kind === 'edit' ? [effect.path] : []));
  return [...new Set(paths)].filter(Boolean);
}

const REMEMBERS = new Set(['add_memory', 'update_memory']);

/** What the run had put into the agent's memory when this step was over. */
export const memoriesUntil = ({ bars }: Run, step: Bar): string[] =>
  bars
    .filter(({ kind, name, isError, seq }) => kind === 'tool' && REMEMBERS.has(name) && !isError && seq <= step.seq)
    .map(({ args = '' }) => String(argsOf(args)['memory'] ?? ''))
    .filter(Boolean);

/** The last words of a run: its answer. */
export const answerOf = ({ bars }: Run): string =>
  bars.findLast(({ kind, step }) => kind === 'model' && (step.content ?? '') !== '')?.step.content ?? '';

/** What it was told. */
export const askedIn = ({ bars }: Run): string => bars.find(({ kind }) => kind === 'prompt')?.step.content ?? '';

/** Which models answered in it. */
export const modelsOf = ({ bars }: Run): string[] => [
  ...new Set(bars.filter(({ kind, name }) => kind === 'model' && name !== '').map(({ name }) => name)),
];
