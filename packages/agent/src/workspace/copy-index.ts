import type { Stats } from 'node:fs';

/** The index of a working copy: what its files were known by when they were last the same as what is stored. */

/** A line: the path, how it is known, what it says. A path alone: it is gone. The last line about a path counts. */
export type IndexLine = [path: string, sign?: string, says?: string];

/** A time in two whole numbers: to write one with a fraction takes several times as long, and each file of a folder has two. */
const timeOf = (ms: number): string => `${Math.floor(ms / 1000)}.${Math.round((ms % 1000) * 10_000)}`;

/** Another one whenever a file is changed, as far as clocks can tell. */
export const signOf = ({ mode, size, mtimeMs, ctimeMs, ino }: Stats): string =>
  `${mode & 0o777}:${size}:${mtimeMs === ctimeMs ? '' : timeOf(mtimeMs)}:${timeOf(ctimeMs)}:${ino}`;
export const folderSign = (mode: number): string => `d:${mode}`;
export const linkSign = (target: string): string => `l:${target}`;
/** It may be changing at this moment: to be looked at again. */
export const UNSURE = '';

/** What a file is, by its mode and the digest of its parts. */
export const saysOf = (mode: number, digest: string): string => `${mode}:${digest}`;

export const linesOf = (entries: readonly IndexLine[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
