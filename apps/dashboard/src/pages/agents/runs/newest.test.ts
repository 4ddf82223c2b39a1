import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionStep } from '@troupe/contract';
import { findNewest, newestIn } from './newest.ts';

const step = (seq: number, type: string, more: object = {}) =>
  ({ seq, at: '2026-01-01T00:00:00.000Z', type, ...more }) as SessionStep;
/** A run of so many steps. */
const run = (from: number, steps: number): SessionStep[] =>
  Array.from({ length: steps }, (_, at) =>
    step(from + at, at === 0 ? 'user' : at === steps - 1 ? 'run_ended' : 'assistant'),
  );

test('the newest run is told from the last steps, but not one that may have begun before them', () => {
  const all = [...run(1, 4), ...run(5, 3), step(8, 'user'), step(9, 'assistant')];
  assert.equal(newestIn(all), 8);
  assert.equal(newestIn(all.slice(0, 7)), 5);
  assert.equal(newestIn(all.slice(5)), 8);
  // Said in the middle of a run, for all that is known.
  assert.equal(newestIn(all.slice(7)), undefined);
  assert.equal(newestIn([]), undefined);
  const stopped = [...run(1, 4), step(5, 'user'), step(6, 'user'), step(7, 'run_ended', { leaves: 6 })];
  assert.equal(newestIn(stopped), 6);
});

test('it is looked for as far back as is needed, each step once, and no further than a run is shown', async () => {
  const all = [...run(1, 10), ...run(11, 700)];
  const asked: [number, number][] = [];
  const read = async (_: unknown, after: number, upTo: number) => {
    asked.push([after, upTo]);
    return all.slice(after, upTo);
  };
  assert.equal(await findNewest({ agentId: 'a', sessionId: 's' }, all.length, read), 11);
  assert.deepEqual(asked, [
    [610, 710],
    [210, 610],
    [0, 210],
  ]);
  const endless = async (_: unknown, after: number, upTo: number) =>
    Array.from({ length: upTo - after }, (_, at) => step(after + at + 1, 'assistant'));
  assert.equal(await findNewest({ agentId: 'a', sessionId: 's' }, 1_000_000, endless), 1);
});
