import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const JUDGES = path.join(ROOT, 'tests/judges/node_modules/.bin');
/** That of the project: a tenth of the work of the one that the generators bring along. */
const COMPILER = path.join(ROOT, 'node_modules/.bin/tsc');

/** Runs a judge of API descriptions in `folder`; what it printed when it succeeded, an error with it when not. */
export const judge = (folder: string, program: string, args: readonly string[]): Promise<string> =>
  run(folder, path.join(JUDGES, program), args);

async function run(folder: string, program: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NO_COLOR: '1',
      REDOCLY_TELEMETRY: 'off',
      CI: 'true',
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${path.basename(program)} ended with ${code}: ${said.slice(-4_000)}`);
  return said;
}

/** Compiles what a generator wrote, strictly; gives what loads its files. */
export async function compiled(folder: string, written: string): Promise<(entry: string) => unknown> {
  const found = await readdir(path.join(folder, written), { recursive: true });
  const sources = found.filter((name) => name.endsWith('.ts')).map((name) => path.join(written, name));
  const out = `${written}-js`;
  await writeFile(path.join(folder, 'package.json'), '{"type":"commonjs"}');
  const how = [
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--module',
    'commonjs',
    '--lib',
    'es2023,dom,dom.iterable',
  ];
  await run(folder, COMPILER, [...how, '--rootDir', written, '--outDir', out, ...sources]);
  const load = createRequire(path.join(folder, 'package.json'));
  return (entry) => load(path.join(folder, out, entry)) as unknown;
}
