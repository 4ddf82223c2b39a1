import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import { faultRounds } from './rounds/run.ts';

/** As many as `npm run faults` makes by itself: each kind of fault twice and more. */
const ROUNDS = 20;
const LIMIT_MS = 600_000;
/** As many answers are under way at any moment, without keeping all cores busy. */
const MODEL_MS = 200;

test(
  'of 20 faults at a bad moment, none loses or doubles what was answered',
  { skip: needs('redis-server', 'nginx', 'a clock of its own'), timeout: LIMIT_MS },
  async (t) => {
    const seed = Date.now() % 2 ** 31;
    const say = (line: string) => t.diagnostic(line);
    const rounds = await faultRounds({ rounds: ROUNDS, seed, modelMs: MODEL_MS, signal: t.signal, say });
    assert.deepEqual(
      rounds.filter(({ wrong }) => wrong.length > 0),
      [],
      `npm run faults -- ${ROUNDS} ${seed}`,
    );
    assert.ok(rounds.every(({ answered }) => answered > 20));
    assert.ok(new Set(rounds.map(({ fault }) => fault)).size >= 7);
  },
);
