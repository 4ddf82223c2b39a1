import { createContext } from 'react';
import { keep, kept } from '../../../keeping.ts';

/** How far somebody has read in each conversation, in this browser: of the last ones only. */

const KEY = 'seen';
const MOST = 200;

type Seen = [sessionId: string, seq: number];

const isSeen = (one: unknown): one is Seen =>
  Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'number';

const all = (): Seen[] => {
  const list = kept(KEY);
  return Array.isArray(list) ? list.filter(isSeen) : [];
};

export const seenIn = (sessionId: string): number | undefined => all().find(([id]) => id === sessionId)?.[1];

export const noteSeen = (sessionId: string, seq: number): void =>
  keep(KEY, [[sessionId, seq], ...all().filter(([id]) => id !== sessionId)].slice(0, MOST));

/** What was said after this step, and before somebody came back, is new to them. */
export interface LeftOff {
  seq: number;
  /** When they came back. */
  at: number;
}

export const NewFrom = createContext<LeftOff | undefined>(undefined);

const STEP = 'step-';

/** From the newest on, what was said as it is drawn: nothing is looked at that nobody asks for. */
function* stepsIn(content: HTMLElement): Generator<number> {
  for (let node = content.lastElementChild; node; node = node.previousElementSibling)
    if (node.localName === 'article' && node.id.startsWith(STEP)) yield Number(node.id.slice(STEP.length));
}

export const lastStepIn = (content: HTMLElement): number => stepsIn(content).next().value ?? 0;

export function countAfter(content: HTMLElement, seq: number): number {
  let count = 0;
  for (const step of stepsIn(content)) {
    if (step <= seq) break;
    count += 1;
  }
  return count;
}
