import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@troupe/testing/processes/program';

/** The whole product in a process of its own, as `npm start` runs it, on free ports and a data folder that goes away. */
export interface RunningPlatform {
  url: string;
  backendUrl: string;
  dataDir: string;
  owner: { email: string; password: string };
  /** Ends it as if the machine had died; its data stays. */
  kill: () => Promise<void>;
  /** Starts it again, where it was. */
  revive: () => Promise<void>;
  stop: () => Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));
const READY = /Ctrl-C stops everything/;

export async function startPlatform(env: Record<string, string> = {}): Promise<RunningPlatform> {
  const dataDir = await mkdtemp(join(tmpdir(), 'troupe-e2e-'));
  const [web, backend, summarizer] = await freePorts(3);
  const start = () =>
    run({
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      WEB_PORT: String(web),
      BACKEND_PORT: String(backend),
      SUMMARIZER_PORT: String(summarizer),
      LOG_LEVEL: 'warn',
      ...env,
    });
  let running = await start().catch(async (error: unknown) => {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  });
  const end = async (signal: NodeJS.Signals) => {
    const { child } = running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  const { output } = running;
  const found = (name: string) => new RegExp(`${name}\\s+(\\S+)`).exec(output)?.[1] ?? '';
  return {
    url: `http://127.0.0.1:${web}`,
    backendUrl: `http://127.0.0.1:${backend}`,
    dataDir,
    owner: { email: found('E-mail'), password: found('Password') },
    kill: () => end('SIGKILL'),
    revive: async () => void (running = await start()),
    stop: async () => {
      await end('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Answers when it is ready, with what it printed. */
async function run(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; output: string }> {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (READY.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`the platform ended with ${code}:\n${output}`)));
  });
  return { child, output };
}
