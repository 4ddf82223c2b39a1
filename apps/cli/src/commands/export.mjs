import { findAgent } from './agents.mjs';
import { save } from '../save.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

const COPY_MS = 10 * 60_000;

/**
 * A copy of the agent is made, fetched and let go of again.
 * @param {Context} context
 */
export async function exporting({ words: [word], options, output, troupe: connect, signal }) {
  const troupe = await connect();
  const { id, name } = await findAgent(troupe, word, signal);
  if (options['yaml'] === true) {
    const to = typeof options['output'] === 'string' ? options['output'] : `${slug(name)}.yaml`;
    await save(await troupe.open('GET /api/agents/:id/document', { params: { id }, signal }), to);
    if (to !== '-') output.show({ saved: to }, () => output.line(`Saved ${to}`));
    return;
  }
  const made = await troupe.call('POST /api/agents/:id/backups', { params: { id }, timeout: COPY_MS, signal });
  const params = { id, backupId: made.backup.id };
  const to = typeof options['output'] === 'string' ? options['output'] : `${slug(name)}-${id}.tar.gz`;
  try {
    const copy = await troupe.open('GET /api/agents/:id/backups/:backupId', { params, timeout: COPY_MS, signal });
    await save(copy, to);
  } finally {
    await troupe.call('DELETE /api/agents/:id/backups/:backupId', { params });
  }
  if (to !== '-') output.show({ saved: to, bytes: made.backup.size }, () => output.line(`Saved ${to}`));
}

/** @param {string} name */
const slug = (name) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'agent';
