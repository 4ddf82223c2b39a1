import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const LEAVING = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A process that ends when the bench does: at its end, when it fails, and when it is told to stop. */
export function endWithUs<Child extends ChildProcess>(child: Child, by: NodeJS.Signals = 'SIGKILL'): Child {
  const undo = [on('exit', () => void child.kill(by))];
  // Without a listener a signal ends the bench before it can end anybody else.
  for (const [signal, code] of Object.entries(LEAVING)) undo.push(on(signal, () => process.exit(code)));
  child.once('exit', () => undo.forEach((forget) => forget()));
  return child;
}

function on(event: string, work: () => void): () => void {
  process.once(event, work);
  return () => process.off(event, work);
}

/** Runs a module in a process of its own and gives what it printed last, read as JSON. */
export async function runChild<T>(module: URL, args: readonly string[]): Promise<T> {
  const child = endWithUs(
    spawn(process.execPath, [fileURLToPath(module), ...args], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) last = line;
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`${module.pathname} ended with ${child.exitCode}`);
  return JSON.parse(last) as T;
}

export interface Service {
  address: string;
  pid: number;
  /** Resident memory now, in MB; Linux only, elsewhere 0. */
  memory: () => number;
  /** Seconds of processor time that it has used; Linux only, elsewhere 0. */
  cpu: () => number;
  signal: (name: NodeJS.Signals) => void;
  stop: () => Promise<void>;
}

/** As `npm start`, the image and the systemd unit have it (docs/adr/0121), for both sides alike. */
const AS_STARTED = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/** To look into a service while it is measured: BENCH_NODE_OPTIONS='--cpu-prof --cpu-prof-dir=…'. */
const profiled = () => {
  const { BENCH_NODE_OPTIONS: options } = process.env;
  return options ? { NODE_OPTIONS: options } : {};
};

/** Starts a service's main.ts, after another module if one is given, and waits until it says where it listens. */
export async function startService(module: URL, env: Record<string, string>, before?: URL): Promise<Service> {
  const preload = before ? ['--import', fileURLToPath(before)] : [];
  const child = endWithUs(
    spawn(process.execPath, [...preload, fileURLToPath(module)], {
      env: { PATH: process.env['PATH'], ...AS_STARTED, ...profiled(), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const stop = async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const { address } = JSON.parse(line) as { address?: string };
    if (address !== undefined)
      return {
        address,
        pid: child.pid ?? 0,
        stop,
        memory: () => residentMb(child.pid),
        cpu: () => cpuSeconds(child.pid),
        signal: (name) => void child.kill(name),
      };
  }
  throw new Error(`${module.pathname} did not start`);
}

function cpuSeconds(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // In ticks of a hundredth, for user and system.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMb(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0;
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
