import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
/** What prepare.mjs put together from the sources, as `npm start` runs it. */
const PLATFORM = path.join(ROOT, 'scripts/start.mjs');
const WATCHER = path.join(ROOT, 'scripts/start.sh');
const READY = 'Ctrl-C stops everything.';
const START_MS = 60_000;

export interface Program {
  pid: number;
  /** What it has printed so far. */
  output: () => string;
  /** Settles when it says that it is ready; rejects when it ends before. */
  ready: Promise<void>;
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill: (signal: NodeJS.Signals) => void;
}

/** Starts the platform itself, with the given settings and nothing else from our environment. */
export const startProgram = (env: Record<string, string>, file = PLATFORM): Program =>
  start(process.execPath, [file], env);

/** Starts the platform as `npm start` does, watched. */
export const startWatched = (env: Record<string, string>): Program => start('/bin/sh', [WATCHER], env);

function start(command: string, args: string[], env: Record<string, string>): Program {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  const ready = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready after ${START_MS / 1000} s:\n${output}`)), START_MS);
    const seen = (chunk: Buffer) => {
      output += String(chunk);
      if (output.includes(READY)) resolve();
    };
    child.stdout.on('data', seen);
    child.stderr.on('data', seen);
    void exit.then(({ code }) => reject(new Error(`ended with ${code} before it was ready:\n${output}`)));
    void exit.finally(() => clearTimeout(timer));
    void exit.catch(() => {});
  });
  // a test that expects the start to fail waits for `exit` only
  ready.catch(() => {});
  return { pid: child.pid ?? 0, output: () => output, ready, exit, kill: (signal) => void child.kill(signal) };
}

/** Settings of a platform of its own: a new data folder and free ports. */
export async function ownSettings(): Promise<{
  env: Record<string, string>;
  dataDir: string;
  remove: () => Promise<void>;
}> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'troupe-start-'));
  const [web, backend, summarizer] = await freePorts(3);
  return {
    dataDir,
    env: { DATA_DIR: dataDir, WEB_PORT: `${web}`, BACKEND_PORT: `${backend}`, SUMMARIZER_PORT: `${summarizer}` },
    remove: () => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }),
  };
}

/** Below those that the system gives to outgoing connections: one of them could be taken before the platform is there. */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_767;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** Whether somebody takes connections there: what a program says first, it may say before. */
export const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const say = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => say(true)).once('error', () => say(false));
  });

/** The processes below `pid`, itself included. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // it has ended since
    }
  }
  const below = (parent: number): number[] => [
    parent,
    ...[...parents].filter(([, of]) => of === parent).flatMap(([child]) => below(child)),
  ];
  return below(pid);
}

export function isAlive(pid: number): boolean {
  try {
    // a zombie has ended; its parent has only not asked yet
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
