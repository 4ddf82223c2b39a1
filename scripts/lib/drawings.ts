import { importsOf, type Source } from '@troupe/testing/sources/sources';
import { ROOMS } from '../../tests/lib/architecture.ts';

/**
 * The drawings of docs/architecture.md, made from the imports of the code itself. An arrow that others already lead to
 * is left out: who uses agents uses what agents use.
 */

/** What stands beside the rooms speaks for all of them, and all of them speak of it: only its own arrows are drawn. */
const FRONT = 'front';

type Arrows = Map<string, Set<string>>;

export const isShipped = ({ path }: Source): boolean =>
  /^(apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(path) &&
  !path.startsWith('packages/testing/') &&
  !/\.test\.tsx?$|[/-]testing\b|\/fixtures\/|-program\.ts$/.test(path);

/** `roomOf` names the room of a file, or of what is imported by name; undefined: it is not in the picture. */
export function arrowsBetween(sources: readonly Source[], roomOf: (place: string) => string | undefined): Arrows {
  const arrows: Arrows = new Map();
  for (const source of sources.filter(isShipped)) {
    const from = roomOf(source.path);
    if (from === undefined) continue;
    const targets = arrows.get(from) ?? new Set<string>();
    arrows.set(from, targets);
    for (const { specifier, file } of importsOf(source)) {
      const to = roomOf(file ?? specifier);
      if (to !== undefined && to !== from && to !== FRONT) targets.add(to);
    }
  }
  return arrows;
}

function reaches(arrows: Arrows, from: string, to: string, past: ReadonlySet<string>): boolean {
  for (const next of arrows.get(from) ?? []) {
    if (past.has(next)) continue;
    if (next === to || reaches(arrows, next, to, new Set([...past, next]))) return true;
  }
  return false;
}

/** Without the arrows that a longer way makes plain. */
function reduced(arrows: Arrows): Arrows {
  return new Map(
    [...arrows].map(([from, targets]) => {
      const needed = [...targets].filter(
        (to) => ![...targets].some((other) => other !== to && reaches(arrows, other, to, new Set([from, other]))),
      );
      return [from, new Set(needed)];
    }),
  );
}

function drawing(direction: 'TD' | 'LR', arrows: Arrows): string {
  const lines = [...reduced(arrows)]
    .filter(([, targets]) => targets.size > 0)
    .map(([from, targets]) => `  ${from} --> ${[...targets].toSorted().join(' & ')}`)
    .toSorted();
  return ['```mermaid', `flowchart ${direction}`, ...lines, '```'].join('\n');
}

const packageRoom = (place: string): string | undefined => {
  const named = /^@troupe\/([^/]+)/.exec(place)?.[1];
  const room = named
    ? (ROOMS.find((one) => one === `packages/${named}`) ?? `apps/${named}`)
    : place.split('/').slice(0, 2).join('/');
  return ROOMS.includes(room) && room !== 'packages/testing' ? room : undefined;
};
const within =
  (folder: string) =>
  (place: string): string | undefined =>
    place.startsWith(`${folder}/`) ? (/^([\w-]+)\//.exec(place.slice(folder.length + 1))?.[1] ?? FRONT) : undefined;

/** By the name that stands before each in the page. */
export function drawings(sources: readonly Source[]): Record<string, string> {
  return {
    packages: drawing('TD', arrowsBetween(sources, packageRoom)),
    web: drawing('LR', arrowsBetween(sources, within('apps/web/src'))),
    backend: drawing('LR', arrowsBetween(sources, within('apps/backend/src'))),
    agent: drawing('LR', arrowsBetween(sources, within('packages/agent/src'))),
  };
}

const mark = (name: string): RegExp => new RegExp(`(<!-- drawing: ${name} -->\n)[\\s\\S]*?(\n<!-- end -->)`);

/** The page with its drawings as the code is now. */
export const withDrawings = (page: string, sources: readonly Source[]): string =>
  Object.entries(drawings(sources)).reduce((text, [name, made]) => text.replace(mark(name), `$1${made}$2`), page);
