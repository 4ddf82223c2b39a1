import { spawn } from 'node:child_process';
import path from 'node:path';

const BIN = path.resolve(import.meta.dirname, '../../../../tests/judges/node_modules/.bin');

export interface Judged {
  code: number | null;
  /** What it printed, errors included. */
  said: string;
  stdout: string;
}

async function run(program: string, args: readonly string[]): Promise<Judged> {
  const child = spawn(process.execPath, [path.join(BIN, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    },
  });
  let said = '';
  let stdout = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
    stdout += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, said, stdout };
}

/** The public conformance suite of MCP. */
export const conformance = (args: readonly string[]): Promise<Judged> => run('conformance', args);

/** The public inspector, without its pages. */
export const inspector = (args: readonly string[]): Promise<Judged> => run('mcp-inspector', ['--cli', ...args]);
