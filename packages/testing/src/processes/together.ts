import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { randomHex } from '@troupe/kernel';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const BUNDLE = path.join(ROOT, 'apps/platform/scripts/bundle.ts');
/** Where packages that stay as they are, are found. */
const FOLDER = path.join(ROOT, '.runtime/tests');

/**
 * A program that a test starts dozens of times, put together as few files as the platform is: it loads in a fraction of the
 * time of its sources.
 */
export async function putTogether(entry: string): Promise<{ file: string; remove: () => Promise<void> }> {
  const folder = path.join(FOLDER, randomHex(8));
  await mkdir(FOLDER, { recursive: true });
  await promisify(execFile)(process.execPath, [BUNDLE, entry, folder]);
  return { file: path.join(folder, 'program.js'), remove: () => rm(folder, { recursive: true, force: true }) };
}
