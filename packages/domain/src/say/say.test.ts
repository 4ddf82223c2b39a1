import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@troupe/testing/machine/processor';
import { parseSchedule } from '../cron.ts';
import { predictCost, proposedCap } from './cost.ts';
import { freeName } from './name.ts';
import { understand } from './rules.ts';
import { readTime } from './when.ts';

test('times are read from plain words', () => {
  for (const [words, cron] of [
    ['each morning read the news', '0 8 * * *'],
    ['Every day at 9 tell me', '0 9 * * *'],
    ['every day at 7:30 pm', '30 19 * * *'],
    ['every evening at 7', '0 19 * * *'],
    ['every morning at nine', '0 9 * * *'],
    ["at twelve o'clock daily", '0 12 * * *'],
    ['at 12 am every day', '0 0 * * *'],
    ['every 15 minutes look', '*/15 * * * *'],
    ['each hour', '0 * * * *'],
    ['every 6 hours', '0 */6 * * *'],
    ['on weekdays at 18:00', '0 18 * * 1-5'],
    ['every Monday at 10', '0 10 * * 1'],
    ['on Sundays', '0 8 * * 0'],
    ['weekly', '0 8 * * 1'],
    ['on the first of each month', '0 8 1 * *'],
    ['read it when I ask', null],
    ['at 99 every day', '0 8 * * *'],
    ['at 25:00 every day', '0 8 * * *'],
  ] as const) {
    assert.equal(readTime(words).cron, cron, words);
    if (cron) assert.ok(parseSchedule(cron, 'UTC', new Date()), cron);
  }
});

test('a sentence becomes who does what with which tools', () => {
  const said = understand(
    'each morning read https://a.example/x, heise.de and example.com and tell me on Telegram what is new, at most $2 a month',
  );
  assert.deepEqual(
    [said.cron, said.tells, said.capUsd, said.tools, said.pages, said.name, said.notes],
    ['0 8 * * *', 'telegram', 2, ['fetch', 'memory'], 3, 'Scout', []],
  );
  assert.equal(said.prompt, 'Read https://a.example/x, heise.de and example.com and tell me what is new');
  assert.equal(understand('mail me').prompt, 'Mail me');
});

test('what is not said is asked for, and nothing is given that the words do not need', () => {
  const said = understand('each morning read these three sites and tell me on Telegram what is new');
  assert.deepEqual([said.pages, said.notes.length], [3, 1]);
  assert.match(said.notes[0]!, /without their addresses/);
  assert.deepEqual(understand('Write me a poem').tools, []);
  assert.match(understand('run the tests each night').notes.join(' '), /commands/);
});

test('hostile sentences are read in time by their length', () => {
  const words = ['every '.repeat(330), 'a.'.repeat(1000), 'at 1'.repeat(500), '$'.repeat(2000), ' '.repeat(2000)];
  const signs = [',', ';', ',and', '; then', '.', '!', '-'].map((sign) => `ab${sign.repeat(1990 / sign.length)}x`);
  for (const bad of [...words, ...signs]) {
    assert.ok(processorMs(() => understand(bad)) < 2000, bad.slice(0, 10));
  }
});

test('what is left at the end of a sentence goes', () => {
  for (const rest of ['', ',', ', and', ' then', ';and;', ' ; and ,'])
    assert.equal(understand(`Read it to me${rest}`).prompt, 'Read it to me', rest);
});

test('a cost has its basis', () => {
  const model = { inputCost: 1, outputCost: 2 };
  const guessed = predictCost({ model, pages: 1, runs: 30 });
  assert.deepEqual([guessed.low, guessed.from], [0.0046, 0]);
  assert.equal(guessed.monthHigh, guessed.high * 30);
  const known = predictCost({ model, pages: 1, runs: 30, past: { runs: 4, low: 0.01, high: 0.02 } });
  assert.deepEqual([known.low, known.monthHigh, known.from], [0.01, 0.6, 4]);
  assert.equal(predictCost({ model, pages: 1, runs: 30, past: { runs: 2, low: 9, high: 9 } }).from, 0);
  assert.deepEqual([proposedCap(0), proposedCap(0.6)], [1, 2]);
});

test('a name that is taken gets a number, and stays as long as it may be', () => {
  assert.equal(freeName('Reader', [], 64), 'Reader');
  assert.equal(freeName('Reader', ['reader '], 64), 'Reader 2');
  assert.equal(freeName('Reader', ['Reader', 'READER 2', 'Reader 3', 'Other'], 64), 'Reader 4');
  const long = '🎪'.repeat(64);
  const free = freeName(long, [long], 64);
  assert.deepEqual([Array.from(free).length, free.endsWith('🎪 2'), free.isWellFormed()], [64, true, true]);
  const many = ['Reader', ...Array.from({ length: 999 }, (_, n) => `Reader ${n + 2}`)];
  assert.equal(freeName('Reader', many, 64), 'Reader 1001');
});
