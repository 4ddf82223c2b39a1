import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { packed } from '../pack.mjs';
import { usage } from '../problem.mjs';

/** @typedef {import('../context.d.mts').Context} Context */

const IMPORT_MS = 10 * 60_000;

/**
 * Shows what files of others would become; with --yes it is made.
 * @param {Context} context
 */
export async function importing({ words: [file], options, output, troupe: connect, signal }) {
  if (!file) throw usage('Which file or folder?');
  const isFolder = file !== '-' && (await stat(file)).isDirectory();
  const { bytes, left } = isFolder
    ? await packed(file)
    : { bytes: await readFile(file === '-' ? '/dev/stdin' : file), left: [] };
  for (const one of left) process.stderr.write(`troupe: ${one} is a link or a device, and left out\n`);
  const { path: inside, plan } = options;
  const query = { name: path.basename(file), ...(typeof inside === 'string' && { path: inside }) };
  const troupe = await connect();
  const input = { bytes: new Uint8Array(bytes), timeout: IMPORT_MS, signal };
  if (options['yes'] !== true) {
    const shown = await troupe.call('POST /api/imports/preview', { ...input, query });
    return output.show(shown, () => {
      tell(output, shown);
      output.line('\nNothing was made. Add --yes to import it.');
    });
  }
  const made = await troupe.call('POST /api/imports', {
    ...input,
    query: { ...query, ...(typeof plan === 'string' && { plan }) },
  });
  output.show(made, () => {
    tell(output, made);
    output.line('\nImported:');
    output.table(
      made.agents.map(({ name, agentId }) => ({ name, id: agentId })),
      ['name', 'id'],
    );
  });
}

/**
 * @param {Context['output']} output
 * @param {Pick<import('@troupe/client').Endpoints['POST /api/imports/preview']['reply'], 'format' | 'name' | 'collections' | 'files' | 'memories' | 'skills' | 'tasks' | 'notCarried' | 'toGive'> & { agents: { name: string }[] }} found
 */
function tell(output, found) {
  const { format, name, agents, collections, files, memories, skills, tasks, notCarried, toGive } = found;
  output.line(`${name} (${format}): ${agents.map((one) => one.name).join(', ')}`);
  for (const one of collections) output.line(`  collection ${one.name}: ${one.documents} documents`);
  for (const one of files) output.line(`  file of ${one.agent}: ${one.path}`);
  for (const one of memories) output.line(`  memory of ${one.agent}: ${one.key}`);
  for (const one of skills) output.line(`  skill, for your review: ${one}`);
  for (const one of tasks) output.line(`  task of ${one.agent}: ${one.name} (${one.cronSchedule}, ${one.timezone})`);
  if (notCarried.length > 0) output.line('Not carried over:');
  for (const { at, says } of notCarried) output.line(`  ${at}: ${says}`);
  if (toGive.length > 0) output.line('To be added by you:');
  for (const { at, says } of toGive) output.line(`  ${at}: ${says}`);
}
