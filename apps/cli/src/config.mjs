import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from './problem.mjs';

/**
 * Who is signed in where. A paired device knows one agent only.
 * @typedef {{ url: string, key?: string, device?: { agentUrl: string, token: string } }} Account
 */

/**
 * @param {Record<string, string | undefined>} env
 * @returns {string}
 */
export function configFile(env) {
  if (env['TROUPE_CONFIG']) return env['TROUPE_CONFIG'];
  const folder = env['XDG_CONFIG_HOME'] || (env['HOME'] && path.join(env['HOME'], '.config')) || env['APPDATA'];
  if (!folder)
    throw new Problem('There is no HOME to keep the sign-in in: set TROUPE_CONFIG, or TROUPE_URL and TROUPE_KEY');
  return path.join(folder, 'troupe', 'config.json');
}

/**
 * @param {string} file
 * @returns {Promise<Account | null>}
 */
export async function readAccount(file) {
  const text = await readFile(file, 'utf8').catch((/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const account = JSON.parse(text);
    if (typeof account?.url === 'string') return account;
  } catch {
    // said below
  }
  throw new Problem(`${file} is damaged: sign in again with troupe login`);
}

/**
 * For its owner's eyes only, and whole or not at all.
 * @param {string} file
 * @param {Account} account
 */
export async function writeAccount(file, account) {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(account, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}

/** @param {string} file */
export const forgetAccount = (file) => rm(file, { force: true });
