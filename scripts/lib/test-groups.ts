import type { Source } from '@troupe/testing/sources/sources';

/**
 * Files of tests that lie together share a process: to load a service costs more than most files then take. Each is a
 * suite of its own, so its hooks are its own. Alone stay those that change or measure what the process has only once.
 */

const TOGETHER: readonly RegExp[] = [
  /^apps\/(?:web|backend)\/src\/[^/]+(?=\/)/,
  /^apps\/dashboard(?=\/)/,
  /^packages\/(?!fleet\/)[^/]+(?=\/)/,
  /^tests\/(?:attacks|clients|e2e|spec)(?=\/)/,
  /^tests(?=\/[^/]+$)/,
];
const ALONE =
  /process\.env\b[^=\n]*[^=!]=[^=]|mock\.timers|process\.(?:chdir|on|once|exitCode|memoryUsage|kill)\b|\bgc\(\)/;
/** Some, so that no place is still busy when all others are done. */
const AT_MOST = 20;
/** Those in a browser are long. */
const AT_MOST_OF_A_KIND = 8;

/** A browser beside a browser, or containers beside containers, take longer than one after the other. */
const KINDS: readonly (readonly [kind: string, files: RegExp])[] = [
  ['browser', /^tests\/e2e\//],
  ['containers', /^(?:tests\/(?:kubernetes|swarm)\/|tests\/faults\/(?:docker|swarm)|packages\/fleet\/src\/docker\/)/],
  ['image', /^tests\/deploy\//],
];

export const kindOf = (file: string): string | undefined => KINDS.find(([, files]) => files.test(file))?.[0];

/** Who measures what others notice of an attack has a process of his own: he may be tried again. */
const MEASURES = /\.(?:unharmed|during)\(/;
/** A cluster wants the machine for itself, and its programs may still be made while all others run. */
const LAST = /\brunInCluster\(/;

type Sources = ReadonlyMap<string, Source>;

const says = (file: string, what: RegExp, sources: Sources): boolean =>
  file.startsWith('tests/') && what.test(sources.get(file)?.text ?? '');

/** Whether the file measures how long others wait. */
export const measures = (file: string, sources: Sources): boolean => says(file, MEASURES, sources);

/**
 * Attacks that keep all cores busy by themselves: beside others each of them failed in every run of two cores, and was tried
 * again alone, which counts. So they are tried alone at once.
 */
export const WANT_ALL_CORES: readonly string[] = [
  'chat-streams-that-nobody-reads',
  'deliveries-without-end',
  'imports-of-the-largest-size',
  'previews-of-files',
].map((name) => `tests/attacks/${name}.test.ts`);

export const comesLast = (file: string, sources: Sources): boolean => says(file, LAST, sources);

/** Lists of files, each for one process. Those of a folder are dealt out, so that none has all that come first. */
export function grouped(files: readonly string[], sources: Sources): string[][] {
  const alone: string[][] = [];
  const folders = new Map<string, string[]>();
  for (const file of files) {
    const text = sources.get(file)?.text;
    const folder = TOGETHER.map((pattern) => pattern.exec(file)?.[0]).find((found) => found !== undefined);
    if (folder === undefined || text === undefined || ALONE.test(text) || measures(file, sources)) alone.push([file]);
    else folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...alone, ...[...folders.values()].flatMap(dealt)];
}

function dealt(files: readonly string[]): string[][] {
  const most = kindOf(files[0] ?? '') === undefined ? AT_MOST : AT_MOST_OF_A_KIND;
  const count = Math.ceil(files.length / most);
  return Array.from({ length: count }, (_, hand) => files.filter((_file, index) => index % count === hand));
}
