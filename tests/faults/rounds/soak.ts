import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startLoad } from './load.ts';
import type { Member } from './members.ts';
import { startWorld, type World } from './world.ts';

/** Load for a long time with nothing wrong: what grows with time alone is a leak. */

export interface Sample {
  minute: number;
  'webs MB': number;
  'backends MB': number;
  handles: number;
  connections: number;
  'writes/s': number;
  'median ms': number;
  'p99 ms': number;
}

export interface Soak {
  samples: Sample[];
  /** What grew, and what was lost or doubled. */
  wrong: string[];
}

const SAMPLES = 12;
/** The last third against the one before it; until then caches fill and the compiler learns. */
const MOST: readonly [column: keyof Sample, growth: number][] = [
  ['webs MB', 1.1],
  ['backends MB', 1.1],
  ['handles', 1.1],
  ['connections', 1.1],
  ['median ms', 1.5],
  ['p99 ms', 2],
];

export async function soak({ minutes, say }: { minutes: number; say: (sample: Sample) => void }): Promise<Soak> {
  const world = await startWorld();
  try {
    const load = await startLoad(world);
    const samples: Sample[] = [];
    const seconds = (minutes * 60) / SAMPLES;
    for (let number = 1; number <= SAMPLES; number += 1) {
      await delay(seconds * 1000);
      const sample = { minute: (number * seconds) / 60, ...(await measure(world, load.times(), seconds)) };
      samples.push(sample);
      say(sample);
    }
    const { asked, answered, refusals } = await load.stop();
    const wrong = [...grown(samples), ...(await load.look())];
    if (answered < asked) wrong.push(`${asked - answered} of ${asked} were refused: ${JSON.stringify(refusals)}`);
    return { samples, wrong };
  } finally {
    await world.stop();
  }
}

async function measure(world: World, times: number[], seconds: number): Promise<Omit<Sample, 'minute'>> {
  const { webs, backends, db } = world;
  const sorted = times.toSorted((a, b) => a - b);
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database()`.execute(db.system);
  return {
    'webs MB': sum(webs, memory),
    'backends MB': sum(backends, memory),
    handles: sum([...webs, ...backends], handles),
    connections: rows[0]?.count ?? 0,
    'writes/s': times.length / seconds,
    'median ms': sorted[sorted.length >> 1] ?? Number.NaN,
    'p99 ms': sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  };
}

const sum = (members: readonly Member[], of: (pid: number) => number): number =>
  members.reduce((total, { pid }) => total + of(pid()), 0);

const memory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const handles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

function grown(samples: readonly Sample[]): string[] {
  const third = samples.length / 3;
  const mean = (from: readonly Sample[], column: keyof Sample): number =>
    from.reduce((total, sample) => total + sample[column], 0) / from.length;
  return MOST.flatMap(([column, most]) => {
    const [before, after] = [samples.slice(third, 2 * third), samples.slice(2 * third)].map((part) =>
      mean(part, column),
    );
    const growth = after! / before!;
    return growth <= most ? [] : [`${column} grew to ${growth.toFixed(2)} times what it was`];
  });
}
