import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Source } from '@troupe/testing/sources/sources';
import { ROOT } from './run.mjs';

/**
 * Files of tests that lie together share a process: to load a service costs more than most files then take. Each is a
 * suite of its own, so its hooks are its own. Alone stay those that change or measure what the process has only once.
 */

const TOGETHER: readonly RegExp[] = [
  /^apps\/(?:web|backend)\/src\/[^/]+(?=\/)/,
  /^apps\/dashboard(?=\/)/,
  /^packages\/(?!fleet\/)[^/]+(?=\/)/,
  /^tests\/(?:attacks|clients|spec)(?=\/)/,
  /^tests(?=\/[^/]+$)/,
];
const ALONE =
  /process\.env\b[^=\n]*[^=!]=[^=]|mock\.timers|process\.(?:chdir|on|once|exitCode|memoryUsage|kill)\b|\bgc\(\)/;
/** A few, so that no place is still busy when all others are done. */
const AT_MOST = 10;

/** A browser beside a browser, or containers beside containers, take longer than one after the other. */
const KINDS: readonly (readonly [kind: string, files: RegExp])[] = [
  ['browser', /^tests\/e2e\//],
  [
    'containers',
    /^(?:tests\/(?:deploy|kubernetes|swarm)\/|tests\/faults\/(?:docker|swarm)|packages\/fleet\/src\/docker\/)/,
  ],
];

export const kindOf = (file: string): string | undefined => KINDS.find(([, files]) => files.test(file))?.[0];

/**
 * Who measures what others notice wants the machine for himself, and so does a cluster, whose programs may still be made
 * meanwhile: these run at the end, one after the other.
 */
const MEASURES = /\.(?:unharmed|during)\(|\brunInCluster\(/;

/** Whether the files of a group measure how long others wait. */
export const measures = (group: readonly string[], sources: ReadonlyMap<string, Source>): boolean =>
  group.some((file) => MEASURES.test(sources.get(file)?.text ?? ''));

/** Lists of files, each for one process, in the order of the files. */
export function grouped(files: readonly string[], sources: ReadonlyMap<string, Source>): string[][] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const text = sources.get(file)?.text;
    const folder = TOGETHER.map((pattern) => pattern.exec(file)?.[0]).find((found) => found !== undefined);
    const room = `${folder} ${MEASURES.test(text ?? '')}`;
    const group = open.get(room);
    if (folder === undefined || text === undefined || ALONE.test(text)) groups.push([file]);
    else if (group && group.length < AT_MOST) group.push(file);
    else {
      const begun = [file];
      open.set(room, begun);
      groups.push(begun);
    }
  }
  return groups;
}

export interface Runnable {
  /** For Node's test runner: files that are alone themselves, for others one that brings them together. */
  files: string[];
  remove: () => void;
}

export function runnable(groups: readonly (readonly string[])[]): Runnable {
  const folder = mkdtempSync(path.join(tmpdir(), 'troupe-suites-'));
  const files = groups.map((group, index) => {
    const [first = ''] = group;
    if (group.length === 1) return first;
    const file = path.join(folder, `${index}.test.mjs`);
    const suites = group.map(
      (name) => `describe(${JSON.stringify(name)}, () => import(${JSON.stringify(urlOf(name))}));\n`,
    );
    writeFileSync(file, `import { describe } from 'node:test';\n${suites.join('')}`);
    return file;
  });
  return { files, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const urlOf = (name: string): string => pathToFileURL(path.resolve(ROOT, name)).href;

/** The file that a suite stands for, if it was brought together with others. */
export const standsFor = (file: string, suite: string): string | undefined =>
  path.basename(path.dirname(file)).startsWith('troupe-suites-') ? suite : undefined;
