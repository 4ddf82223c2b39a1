import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { stem } from './stem.ts';
import { askedFor, termsOf } from './terms.ts';

const found = (text: string, question: string): boolean => {
  const terms = new Set(termsOf(text));
  return askedFor(question).every((term) => terms.has(term));
};

test('a word has the stem that PostgreSQL gives it', async (t) => {
  const { db, drop } = await testDatabase();
  t.after(drop);
  const words =
    'running hopping hiked colours generously communities relational conditional digitizer operator decisiveness hopefulness formality triplicate formalize electricity goodness revival allowance adjustable replacement dependent adoption activate effective rate cease controlling roll cry say enjoyed studies ties agreed proceed harbours paintings university caresses knack flying skies dying news inning agreement possibly gently arsenal kingly apology sensational hoping tanned fizzed failing filing happy conflated troubling sized sky toy boyish'.split(
      ' ',
    );
  const { rows } = await sql<{ stem: string }>`select (ts_lexize('english_stem', w))[1] as stem
    from unnest(${words}::text[]) with ordinality as g (w, n) order by n`.execute(db.system);
  assert.deepEqual(
    words.map((word) => stem(word)),
    rows.map((row) => row.stem),
  );
});

test('the forms of a word, accents and possessives find each other', () => {
  assert.ok(found('She was painting the harbours', 'paint harbour'));
  assert.ok(found('Café Müller’s menu', 'cafe muller'));
  assert.ok(!found('a car', 'care'));
  assert.deepEqual(askedFor('What is the and of it?'), []);
});

test('days are found however they are written', () => {
  for (const text of ['on 2023-05-07', 'on 7 May 2023', 'on May 7th, 2023', 'on 07.05.2023', 'the 7th of May, 2023'])
    for (const question of ['2023-05-07', 'May 7, 2023']) {
      const terms = new Set(termsOf(text));
      assert.ok(askedFor(question).includes('date20230507') && terms.has('date20230507'), `${text} by ${question}`);
    }
  assert.ok(termsOf('in May 2023').includes('date202305'));
  assert.ok(!termsOf('2023-13-45').some((term) => term.startsWith('date')));
});

test('numbers and names that signs join are found whole and in parts', () => {
  assert.ok(found('part AB-1234/7 costs 1,200.50', 'AB-1234/7'));
  assert.ok(found('part AB-1234', 'ab1234'));
  assert.ok(found('it costs 1,200', '1200'));
});

test('a text that is one word, or many signs, takes no longer than others', () => {
  for (const text of ['x'.repeat(1_000_000), '茶'.repeat(300_000), '1.'.repeat(300_000), "a'".repeat(300_000)])
    assert.ok(termsOf(text).length < 1_000_000);
});

test('Chinese and Japanese are found without spaces', () => {
  assert.ok(found('港口早上九点开门', '港口 开门'));
  assert.deepEqual(askedFor('什么'), []);
});
