import { posix } from 'node:path';
import type { TeamCollection } from '../teams/rag.ts';
import type { BundleFile } from './parts.ts';

/** The files that a collection's paths mean, from the folder that the document stands in. */

export interface Found {
  collection: string;
  /** The path as the document has it. */
  path: string;
  files: BundleFile[];
}

const isPattern = (path: string): boolean => /[*?{[]/.test(path);
const MARKS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

const likeOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replaceAll(/\*\*\/|\*\*|[*?]|[.+^$()|[\]{}\\]/g, (sign) => MARKS[sign] ?? `\\${sign}`)}$`,
    'u',
  );

function meant(path: string, folder: string, files: readonly BundleFile[]): BundleFile[] {
  const whole = posix.normalize(posix.join(folder, path)).replace(/\/$/, '');
  if (whole.startsWith('..') || posix.isAbsolute(path)) return [];
  if (isPattern(whole)) {
    const like = likeOf(whole);
    return files.filter((file) => like.test(file.path));
  }
  const below = whole === '.' ? '' : `${whole}/`;
  return files.filter((file) => file.path === whole || file.path.startsWith(below));
}

export const docsOf = (collections: readonly TeamCollection[], folder: string, files: readonly BundleFile[]): Found[] =>
  collections.flatMap(({ name, docs }) =>
    docs.map((path) => ({ collection: name, path, files: meant(path, folder, files) })),
  );
