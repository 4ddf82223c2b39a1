import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Source } from '@troupe/testing/sources/sources';
import { ROOT } from './run.mjs';
import { comesLast, grouped, kindOf, measures, WANT_ALL_CORES } from './test-groups.ts';
import { knownTimes, slowestFirst } from './test-order.ts';

/** What is run, in which order, and beside what: from here to the process that runs it. */

export interface Planned {
  /** For Node's test runner: the file of tests itself, or one that brings several together. */
  file: string;
  name: string;
  kind: string | undefined;
  /** Whoever says nothing for so long, and does not end either, is ended. */
  silentMs: number;
  /** Of who measures how long others wait: what is run instead when nobody is beside it. */
  alone?: string;
}

/** Something that was done, and how long that took. */
export type Took = readonly [what: string, ms: number];

export interface Plan {
  lanes: number;
  timeoutMs: number;
  /** What was done before, to be told with the rest. */
  took: readonly Took[];
  first: Planned[];
  /** One by one, when all others have ended. */
  last: Planned[];
}

/** Files of tests, and what their processes find in the environment. */
export interface Part {
  files: readonly string[];
  env?: Record<string, string>;
  /** Follows their names, where the same files run elsewhere too. */
  suffix?: string;
}

/** The kind of those who measure how long others wait. */
export const MEASURES = 'measures';
/** Says to who measures that others are there. */
const BESIDE = { TROUPE_BESIDE: '1' };

export function writePlan(
  parts: readonly Part[],
  sources: ReadonlyMap<string, Source>,
  given: Pick<Plan, 'lanes' | 'timeoutMs' | 'took'>,
): { file: string; remove: () => void } {
  const folder = mkdtempSync(path.join(tmpdir(), SUITES));
  const write = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const { timeOf, atMost } = knownTimes();
  const isMany = parts.flatMap(({ files }) => files).length > 1;
  const groups = parts.flatMap((part) => {
    const files = slowestFirst(part.files, (file) => timeOf([file]));
    return grouped(files, sources).map((group) => {
      const [first = ''] = group;
      const isMeasure = isMany && measures(first, sources);
      const isLast = comesLast(first, sources) || (isMeasure && WANT_ALL_CORES.includes(first));
      const kind = isMeasure ? MEASURES : kindOf(first);
      return { ...part, group, first, isLast, quiet: isMeasure && !isLast, kind };
    });
  });
  const ordered = slowestFirst(groups, ({ group }) => timeOf(group))
    // of those only one runs at a time, so they must not begin late
    .toSorted((a, b) => Number(a.kind === undefined) - Number(b.kind === undefined));
  const plan: Plan = { ...given, first: [], last: [] };
  for (const [number, { group, first, isLast, quiet, kind, env = {}, suffix = '' }] of ordered.entries()) {
    const isPlain = group.length === 1 && suffix === '' && !quiet;
    const text = suitesOf(group, { ...env, ...(quiet && BESIDE) }, suffix);
    plan[isLast ? 'last' : 'first'].push({
      file: isPlain ? first : write(`${number}.test.mjs`, text),
      name: `${first}${suffix}${group.length > 1 ? ` and ${group.length - 1} more` : ''}`,
      kind,
      silentMs: silence(atMost(group)),
      ...(quiet && { alone: first }),
    });
  }
  return {
    file: write('plan.json', JSON.stringify(plan)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const SUITES = 'troupe-suites-';

/** A test has a time-out of its own, which is shorter; what is ended here has hung itself up beside them. */
const SILENT_TIMES = 5;
const SILENT_MORE_MS = 120_000;
const SILENT_LEAST_MS = 300_000;
const silence = (usualMs: number): number => Math.max(SILENT_LEAST_MS, SILENT_TIMES * usualMs + SILENT_MORE_MS);

function suitesOf(group: readonly string[], env: Record<string, string>, suffix: string): string {
  const suites = group.map(
    (name) => `describe(${JSON.stringify(name + suffix)}, () => import(${JSON.stringify(urlOf(name))}));\n`,
  );
  return `import { describe } from 'node:test';\nObject.assign(process.env, ${JSON.stringify(env)});\n${suites.join('')}`;
}

const urlOf = (name: string): string => pathToFileURL(path.resolve(ROOT, name)).href;

/** The file that a suite stands for, if it was brought together with others. */
export const standsFor = (file: string, suite: string): string | undefined =>
  path.basename(path.dirname(file)).startsWith(SUITES) ? suite : undefined;
