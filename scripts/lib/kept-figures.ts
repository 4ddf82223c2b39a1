import { format } from '../../bench/lib/report.ts';
import type { Result } from '../../bench/lib/results.ts';

/** Figures in sentences of the documents, between marks that name what bench/results.json holds. */

type Results = Readonly<Record<string, Result>>;

/** Of one figure, what another unit makes of it. */
const COMPUTED: Readonly<Record<string, (of: (name: string) => number) => string>> = {
  'agents in a gigabyte': (of) =>
    (Math.floor(1024 / of('agents mb_per_idle_agent') / 1000) * 1000).toLocaleString('en'),
  'GB of a million agents': (of) => `${Math.round(of('agents mb_per_idle_agent') * 1000)}`,
};

const MARK = /(<!-- kept: ([^>]+) -->).*?(<!-- end -->)/g;

/** The page with its figures as they were kept last. */
export const withKept = (page: string, results: Results): string =>
  page.replace(MARK, (_all, start: string, name: string, end: string) => start + textOf(name, results) + end);

export const keptIn = (page: string): string[] => [...page.matchAll(MARK)].map(([, , name = '']) => name);

function textOf(name: string, results: Results): string {
  const of = (one: string): number => valueOf(one, results);
  return COMPUTED[name]?.(of) ?? shown(of(name));
}

function valueOf(name: string, results: Results): number {
  const at = name.lastIndexOf(' ');
  const [bench, figure] = [name.slice(0, at), name.slice(at + 1)];
  const result = results[bench];
  const value = result?.targets.find((target) => target.figure === figure)?.value ?? result?.others[figure];
  if (value === undefined) throw new Error(`bench/results.json has no ${figure} of ${bench}`);
  return value;
}

/** Two digits of what is small, or nothing would be left of it. */
const shown = (value: number): string => (value > 0 && value < 0.1 ? `${Number(value.toPrecision(2))}` : format(value));
