import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from './members.ts';
import { DISK_BYTES, type World } from './world.ts';

/** What happens to a platform in the course of its life, all of it at a bad moment. */

export interface Fault {
  name: string;
  /** Settles when what was done is undone, and all are there again. */
  strike: (world: World, pick: <T>(from: readonly T[]) => T) => Promise<void>;
  /** The part of requests that must still be answered. Without the database nobody can answer. */
  answered: number;
}

const FROZEN_MS = 2_000;
const AHEAD_SECONDS = 360;

const killed = (name: string, of: (world: World) => readonly Member[], answered: number): Fault => ({
  name: `kill -9 of ${name}`,
  answered,
  strike: (world, pick) => pick(of(world)).kill(),
});

const FAULTS: readonly Fault[] = [
  killed('a web', ({ webs }) => webs, 0.99),
  killed('a backend', ({ backends }) => backends, 0.99),
  killed('the postmaster', ({ database }) => [database], 0),
  killed('Redis', ({ redis }) => [redis], 0.99),
  killed('the proxy', ({ proxy }) => [proxy], 0),
  {
    name: 'a frozen process',
    answered: 0.99,
    async strike({ webs, backends }, pick) {
      const frozen = pick([...webs, ...backends]);
      frozen.signal('SIGSTOP');
      await delay(FROZEN_MS);
      frozen.signal('SIGCONT');
    },
  },
];

/** While agents write there; the process goes on, and twice more, so that it strikes at another moment, too. */
const lostDisk: Fault = {
  name: 'rm -rf of a backend’s disk',
  answered: 0.9,
  async strike({ dataDirs }, pick) {
    const lost = pick(dataDirs);
    for (let time = 0; time < 3; time += 1) {
      // Again where something was written into a folder while it went.
      for (const name of await readdir(lost))
        await rm(path.join(lost, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 5 });
      await delay(FROZEN_MS / 4);
    }
  },
};

/** A machine that is gone with all that was on it, and comes back empty. */
const lostMachine: Fault = {
  name: 'kill -9 and rm -rf of a backend',
  answered: 0.99,
  async strike({ backends, dataDirs }, pick) {
    const lost = pick(dataDirs);
    const killed = backends[dataDirs.indexOf(lost)]!.kill();
    for (const name of await readdir(lost)) await rm(path.join(lost, name), { recursive: true, force: true });
    await killed;
  },
};

/** What needs more than a process to be told: a disk of its own, a clock of its own. */
const fullDisk: Fault = {
  name: 'a full disk of a backend',
  answered: 0.8,
  async strike({ dataDirs }, pick) {
    const file = path.join(pick(dataDirs), 'filler');
    await writeFile(file, Buffer.alloc(DISK_BYTES)).catch(() => {});
    await delay(FROZEN_MS);
    await rm(file, { force: true });
  },
};

const jumpedClock: Fault = {
  name: 'a clock that jumps',
  answered: 0.99,
  async strike({ clockFile }) {
    await writeFile(clockFile!, `+${AHEAD_SECONDS}`);
    await delay(FROZEN_MS);
    await writeFile(clockFile!, '+0');
  },
};

/** Those that can be had on this machine. */
export const faultsFor = ({ smallDisks, clockFile }: World): Fault[] => [
  ...FAULTS,
  lostDisk,
  lostMachine,
  ...(smallDisks ? [fullDisk] : []),
  ...(clockFile === undefined ? [] : [jumpedClock]),
];
