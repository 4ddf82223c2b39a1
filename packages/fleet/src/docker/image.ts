import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Readable } from 'node:stream';
import { tar, type TarEntry } from '@troupe/kernel';

/** The user that an agent is inside its container. */
export const AGENT_UID = 1000;
export const NODE = '/bin/node';
export const PROGRAM = '/app/agent.mjs';
export const DATA = '/data';

const run = promisify(execFile);

const folder = (name: string, owner = 0): TarEntry => ({ path: `${name}/`, mode: owner ? 0o700 : 0o755, owner });

/** What Node needs of this system: its shared libraries, under the names that it asks for. */
async function libraries(node: string): Promise<string[]> {
  const { stdout } = await run('ldd', [node]);
  return [...new Set([...stdout.matchAll(/(\/\S+)\s+\(0x/g)].map((match) => match[1]!))];
}

/** The file system of an agent's image: Node, what it needs, and the agent program. Nothing else is in it. */
export async function agentImage(program: string, node: string): Promise<Readable> {
  const libs = await libraries(node);
  const folders = new Set<string>();
  for (const file of [...libs, NODE, PROGRAM])
    for (let at = path.dirname(file); at !== '/'; at = path.dirname(at)) folders.add(at.slice(1));
  const entries: TarEntry[] = [
    ...[...folders].sort().map((name) => folder(name)),
    folder('tmp'),
    folder(DATA.slice(1), AGENT_UID),
    { path: PROGRAM.slice(1), mode: 0o644, content: Buffer.from(program) },
    { path: NODE.slice(1), mode: 0o755, content: await readFile(await realpath(node)) },
  ];
  for (const lib of libs)
    entries.push({ path: lib.slice(1), mode: 0o755, content: await readFile(await realpath(lib)) });
  return Readable.from(tar(entries), { objectMode: false });
}
