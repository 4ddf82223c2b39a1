import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK, BlockScores, countOf, entryOf, weightOf } from './postings.ts';
import { rank } from './rank.ts';

let state = 11;
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;

/** Terms in every second passage, in every fourth, and so on, over six blocks of two collections. */
function listsOf(terms: number) {
  const lists = [];
  for (const collection of [1, 2])
    for (const block of [0, 1, 2])
      for (let term = 0; term < terms; term += 1) {
        const entries: number[] = [];
        for (let slot = 0; slot < BLOCK; slot += 1)
          if (random() < 0.5 ** (term + 1)) entries.push(...entryOf(slot, 1 + (slot % 5), 100 + (slot % 200)));
        lists.push({ collection, block, term: `t${term}`, postings: Buffer.from(entries) });
      }
  return lists;
}

test('leaving out what cannot get among the best finds the same as adding up all', () => {
  for (const terms of [1, 3, 6, 9]) {
    const lists = listsOf(terms);
    const [all, average] = [6 * BLOCK, 200];
    const having = (term: string): number =>
      lists.filter((one) => one.term === term).reduce((sum, { postings }) => sum + countOf(postings), 0);
    const every: { at: string; score: number }[] = [];
    for (const collection of [1, 2])
      for (const block of [0, 1, 2]) {
        const scores = new BlockScores();
        for (const one of lists)
          if (one.collection === collection && one.block === block)
            scores.add(one.postings, weightOf(all, having(one.term)), average);
        scores.take(0, (slot, score) => {
          every.push({ at: `${collection}.${block * BLOCK + slot}`, score });
          return 0;
        });
      }
    const wanted = every.toSorted((a, b) => b.score - a.score).slice(0, 30);
    const best = rank(lists, { all, average, most: 30, tuned: new Map() });
    const scoreOf = new Map(every.map(({ at, score }) => [at, score]));
    assert.equal(best.length, wanted.length);
    for (const [place, { collection, number, score }] of best.entries()) {
      assert.ok(Math.abs(score - wanted[place]!.score) < 1e-9, `${terms} terms, place ${place}`);
      assert.ok(Math.abs(score - scoreOf.get(`${collection}.${number}`)!) < 1e-9);
    }
  }
});
