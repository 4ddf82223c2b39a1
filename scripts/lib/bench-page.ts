import { format } from '../../bench/lib/report.ts';
import { isMet, type KeptTarget, type Result } from '../../bench/lib/results.ts';

/** The tables of docs/benchmarks.md, between two marks: what bench/results.json holds, and what bench/README.md says of it. */

const BEGIN = '<!-- results: printed by npm run docs:benchmarks -->';
const END = '<!-- end of results -->';

export function withResults(page: string, results: Readonly<Record<string, Result>>, readme: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md lacks ${BEGIN} or ${END}`);
  return `${page.slice(0, from)}${BEGIN}\n\n${tables(results, benches(readme))}\n${page.slice(to)}`;
}

/** Name and description of each bench, as the table of bench/README.md has them. */
export function benches(readme: string): [name: string, what: string][] {
  const rows = readme.matchAll(/^\| ([a-z]+) \| (.+) \|$/gm);
  return [...rows].map(([, name = '', what = '']) => [name, what]);
}

function tables(results: Readonly<Record<string, Result>>, known: readonly [string, string][]): string {
  const parts = known.map(([name, what]) => {
    const found = Object.entries(results).filter(([key]) => key === name || key.startsWith(`${name} `));
    const head = `### ${name}\n\n${sentence(what)}\n\n`;
    if (found.length === 0) return `${head}No result is kept yet.\n`;
    return head + found.map(([key, result]) => section(key, result)).join('\n');
  });
  return `${summary(results)}\n${parts.join('\n')}`;
}

const sentence = (what: string): string => `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.`;

function summary(results: Readonly<Record<string, Result>>): string {
  const all = Object.values(results).flatMap(({ targets }) => targets);
  const missed = Object.entries(results).flatMap(([name, { targets }]) =>
    targets.filter((target) => !isMet(target)).map(({ figure }) => `${name} ${figure}`),
  );
  const met = `${all.length - missed.length} of ${all.length} targets are met.`;
  return missed.length === 0 ? `${met}\n` : `${met} Missed: ${missed.map((name) => `\`${name}\``).join(', ')}.\n`;
}

function section(key: string, { date, machine, targets, others }: Result): string {
  const rows = targets.map(
    (target) =>
      `| \`${target.figure}\` | ${format(target.value)} | ${bound(target)} | ${isMet(target) ? 'met' : '**missed**'} | ${side(target.ours)} | ${side(target.theirs)} | ${spread(target)} |`,
  );
  const more = Object.entries(others).map(([figure, value]) => `\`${figure}\` ${format(value)}`);
  return `\`npm run bench -- ${key}\`, ${date}, ${machine}.

| Figure | Measured | Target | Result | Ours | Theirs | Spread of the rounds |
|---|---|---|---|---|---|---|
${rows.join('\n')}
${more.length === 0 ? '' : `\nAlso: ${more.join(', ')}.\n`}`;
}

const bound = ({ atLeast, atMost }: KeptTarget): string =>
  [atLeast === undefined ? '' : `≥ ${atLeast}`, atMost === undefined ? '' : `≤ ${atMost}`].filter(Boolean).join(', ');

const side = (value: number | undefined): string => (value === undefined ? '' : format(value));

const spread = ({ spread: found }: KeptTarget): string =>
  found ? `${format(found[0])} to ${format(found[1])} in ${found[2]}` : '';
