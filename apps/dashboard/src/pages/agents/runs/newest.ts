import type { SessionStep } from '@troupe/contract';
import { runsIn } from './runs-in.ts';

/** With which step the newest run begins, as far as its last steps tell; undefined: it began before them. */
export function newestIn(steps: readonly SessionStep[]): number | undefined {
  const newest = runsIn(steps)[0]?.first;
  if (newest === undefined || steps[0]?.seq === 1) return newest;
  // What is said in the middle of a run begins none: only after an end it is known to be a beginning.
  const isKnown = steps.some(({ type, seq, leaves }) => type === 'run_ended' && (seq < newest || leaves === newest));
  return isKnown ? newest : undefined;
}

/** So far back it is looked for, in ever larger steps; a longer run is not shown whole either. */
const BACK = [100, 500, 5000];

/** With which step the newest run of a conversation begins; 1 where that cannot be found. */
export async function findNewest(
  session: { agentId: string; sessionId: string },
  lastSeq: number,
  /** All steps after one and up to another. */
  read: (session: { agentId: string; sessionId: string }, after: number, upTo: number) => Promise<SessionStep[]>,
): Promise<number> {
  let steps: SessionStep[] = [];
  for (const back of BACK) {
    const from = (steps[0]?.seq ?? lastSeq + 1) - 1;
    steps = [...(await read(session, Math.max(0, lastSeq - back), from)), ...steps];
    const first = newestIn(steps);
    if (first !== undefined) return first;
    if (lastSeq <= back) break;
  }
  return 1;
}
