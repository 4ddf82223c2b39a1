import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@troupe/testing/processes/service';

/** Whatever can be killed, frozen and started again. */
export interface Member {
  name: string;
  /** Ends it at once; settles when its watcher has brought it back. */
  kill: () => Promise<void>;
  signal: (signal: NodeJS.Signals) => void;
  pid: () => number;
}

export interface Running {
  pid: number;
  signal: (signal: NodeJS.Signals) => void;
  ended: Promise<unknown>;
}

/** A member that can be stopped in peace, and started from another release. */
export interface Exchangeable extends Member {
  /** Settles when the other one listens. */
  exchange: (start: () => Promise<Running>) => Promise<void>;
}

/** What a watcher waits before it starts a process again. */
const AGAIN_MS = 500;
const READY_MS = 30_000;
/** Longer than any service takes that is told to stop. */
const STOP_MS = 60_000;

/** A process with somebody who starts it again. */
export async function member(
  name: string,
  start: () => Running | Promise<Running>,
  ready: () => Promise<boolean>,
): Promise<Exchangeable & { stop: () => Promise<void> }> {
  let running = await start();
  let stopped = false;
  await until(ready, name);
  const end = async () => {
    running.signal('SIGKILL');
    await running.ended;
  };
  const again = async () => {
    running = await start();
    // meanwhile all was over, and nobody would end it any more
    if (stopped) return end();
    await until(ready, name);
  };
  return {
    name,
    signal: (signal) => running.signal(signal),
    pid: () => running.pid,
    async kill() {
      await end();
      await delay(AGAIN_MS);
      if (!stopped) await again();
    },
    async exchange(other) {
      running.signal('SIGTERM');
      const over = await Promise.race([running.ended, delay(STOP_MS, 'late', { ref: false })]);
      if (over === 'late') throw new Error(`${name} did not stop within ${STOP_MS / 1000} s`);
      start = other;
      await again();
    },
    async stop() {
      stopped = true;
      await end();
    },
  };
}

/** A program of the system, with all that it starts in one group. */
export function startProgram(command: string, args: readonly string[]): Running {
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  const pid = child.pid!;
  const ended = once(child, 'exit');
  const signal = (name: NodeJS.Signals) => {
    // as of a service: whoever has ended hears nothing
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, name);
  };
  return { pid, ended, signal };
}

export const ofService = ({ pid, kill, exit }: ServiceProcess): Running => ({
  pid,
  ended: exit,
  signal: (signal) => void kill(signal),
});

export async function until(ready: () => Promise<boolean>, name: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!(await ready().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`${name} is not there after ${READY_MS / 1000} s`);
    await delay(50);
  }
}
