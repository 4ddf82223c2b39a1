import { createHash } from 'node:crypto';

/** What a skill is pinned by: one number for all its files, their names included. */

const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

export interface SkillFile {
  path: string;
  content: Uint8Array;
}

export const fileDigest = (content: Uint8Array): string => sha256(content);

export function skillDigest(files: readonly { path: string; sha256: string }[]): string {
  const lines = files.map(({ path, sha256: own }) => `${own}  ${path}\n`).toSorted();
  return sha256(lines.join(''));
}

export const digestOf = (files: readonly SkillFile[]): string =>
  skillDigest(files.map(({ path, content }) => ({ path, sha256: fileDigest(content) })));
