import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { usage } from '../problem.mjs';
import { save } from '../save.mjs';
import { findAgent } from './agents.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

const TRANSFER_MS = 10 * 60_000;

/** @param {Context} context */
export async function files(context) {
  const { words } = context;
  const [first] = words;
  if (first === 'get') return get(context, words.slice(1));
  if (first === 'put') return put(context, words.slice(1));
  return list(context, first === 'list' ? words.slice(1) : words);
}

/**
 * @param {Context} context
 * @param {string[]} words
 */
async function list({ output, troupe: connect, signal }, [word, folder]) {
  const troupe = await connect();
  const { id } = await findAgent(troupe, word, signal);
  const query = folder === undefined ? {} : { path: folder };
  const found = await troupe.call('GET /api/agents/:id/files', { params: { id }, query, signal });
  output.show(found, () => {
    if (found.entries.length === 0) return output.line('No files');
    output.table(
      found.entries.map(({ name, kind, bytes, modifiedAt }) => ({ name, kind, bytes, modified: modifiedAt })),
      ['name', 'kind', 'bytes', 'modified'],
    );
  });
}

/**
 * @param {Context} context
 * @param {string[]} words
 */
async function get({ options, output, troupe: connect, signal }, [word, file]) {
  if (!file) throw usage('Which file?');
  const troupe = await connect();
  const { id } = await findAgent(troupe, word, signal);
  const input = { params: { id }, query: { path: file }, timeout: TRANSFER_MS, signal };
  const to = typeof options['output'] === 'string' ? options['output'] : path.basename(file);
  await save(await troupe.open('GET /api/agents/:id/files/content', input), to);
  if (to !== '-') output.show({ saved: to }, () => output.line(`Saved ${to}`));
}

/**
 * @param {Context} context
 * @param {string[]} words
 */
async function put({ output, troupe: connect, signal }, [word, file, to]) {
  if (!file) throw usage('Which file?');
  const troupe = await connect();
  const { id } = await findAgent(troupe, word, signal);
  const query = { path: to ?? path.basename(file) };
  const bytes = new Uint8Array(await readFile(file === '-' ? '/dev/stdin' : file));
  const input = { params: { id }, query, bytes, timeout: TRANSFER_MS, signal };
  const stored = await troupe.call('PUT /api/agents/:id/files/content', input);
  output.show(stored, () => output.line(`Stored ${stored.path}`));
}
