import type { SessionHead, SessionStep } from '@troupe/contract';

/** A run of a conversation by the step that it begins with, and what was said there. */
export interface RunHead {
  first: number;
  text: string;
  at: string;
}

/** The runs of a conversation, the newest first. What is said while one goes on belongs to it. */
export function runsIn(steps: readonly SessionStep[]): RunHead[] {
  const runs: RunHead[] = [];
  let isOpen = false;
  for (const { type, seq, content = '', at, leaves } of steps) {
    if (type === 'user' && !isOpen) runs.push({ first: seq, text: content, at });
    if (type === 'user') isOpen = true;
    if (type !== 'run_ended') continue;
    // Said after the run was told to stop: the next one.
    const next = steps.find((step) => step.seq === leaves);
    if (next) runs.push({ first: next.seq, text: next.content ?? '', at: next.at });
    isOpen = next !== undefined;
  }
  return runs.reverse();
}

/** What it branched off from and what branched off from it comes first, then the conversation itself. */
export function nearFirst(sessions: readonly SessionHead[], sessionId: string): SessionHead[] {
  const own = sessions.find(({ id }) => id === sessionId);
  const isNear = ({ id, branchOf }: SessionHead) => branchOf === sessionId || (own?.branchOf ?? '') === id;
  const near = sessions.filter((one) => one !== own && isNear(one));
  return [...near, ...(own ? [own] : []), ...sessions.filter((one) => one !== own && !near.includes(one))];
}
