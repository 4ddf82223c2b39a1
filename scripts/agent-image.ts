import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { writeImage } from '@troupe/fleet';
import { readSettings, VERSION, withEnvFile } from '@troupe/kernel';
import { command } from './lib/command.ts';

const BUNDLE = fileURLToPath(new URL('../apps/backend/src/agents/installations/bundle.ts', import.meta.url));
const MOST_BYTES = 64 * 1024 * 1024;

/** `npm run agent:image FILE`: writes the image of this release's agents, for a cluster or a registry, as AGENT_IMAGE says. */
await command(async ([file]) => {
  const name = readSettings(withEnvFile(process.env)).AGENT_IMAGE ?? `troupe-agent:${VERSION}`;
  const { stdout } = await promisify(execFile)(process.execPath, [BUNDLE], { maxBuffer: MOST_BYTES });
  await writeImage(file, { name, program: stdout, node: process.execPath });
  console.error(`${file} holds the image ${name}.`);
});
