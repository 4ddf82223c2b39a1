import { setTimeout as delay } from 'node:timers/promises';
import { chance } from '../../fuzz/random.ts';
import { faultsFor, type Fault } from './faults.ts';
import { PEOPLE, startLoad, type Tally } from './load.ts';
import { startWorld, type World } from './world.ts';

export interface Round extends Tally {
  fault: string;
  /** What an answered write should have left and did not, or left twice; and too few answers. */
  wrong: string[];
}

const BEFORE_MS = 1_500;
const AFTER_MS = 2_500;

/** Rounds of load with one fault in the middle of each; afterwards every write that was answered is looked for. */
export async function faultRounds(options: {
  rounds: number;
  seed: number;
  /** How long the model takes for an answer. Left out: none, and the machine is as busy as it can be. */
  modelMs?: number;
  /** No further round once it is aborted. */
  signal?: AbortSignal;
  say: (line: string) => void;
}): Promise<Round[]> {
  const { rounds, seed, modelMs, signal, say } = options;
  const world = await startWorld({ modelMs });
  const faults = faultsFor(world);
  try {
    const found: Round[] = [];
    for (let number = 0; number < rounds; number += 1) {
      signal?.throwIfAborted();
      // Each kind comes as often as the others.
      const fault = faults[number % faults.length]!;
      const round = await oneRound(world, fault, chance(seed, number).pick);
      say(
        `${number + 1}. ${round.fault}: ${round.answered} of ${round.asked} answered ${JSON.stringify(round.refusals)}`,
      );
      for (const line of round.wrong) say(`   ${line}`);
      found.push(round);
    }
    return found;
  } finally {
    await world.stop();
  }
}

async function oneRound(world: World, fault: Fault, pick: <T>(from: readonly T[]) => T): Promise<Round> {
  const load = await startLoad(world);
  await delay(BEFORE_MS);
  await fault.strike(world, pick);
  await delay(AFTER_MS);
  const tally = await load.stop();
  const wrong = await load.look();
  const part = tally.answered / tally.asked;
  // What each was just asking when it struck may fail, however little was asked besides.
  if (part < fault.answered && tally.asked - tally.answered > PEOPLE)
    wrong.push(`only ${(part * 100).toFixed(1)} % were answered`);
  return { ...tally, fault: fault.name, wrong };
}
