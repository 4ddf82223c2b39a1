import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCommands, MOST_FOUND, movedBy } from './palette-search.ts';

const commands = [
  { label: 'Agents', group: 'Pages' },
  { label: 'New agent', group: 'Actions' },
  { label: 'Röslein', group: 'Agents' },
  { label: 'عامل', group: 'Agents' },
];
const found = (text: string) => findCommands(commands, text).found.map(({ label }) => label);

test('everything is there before something is typed', () => assert.equal(found('  ').length, 4));

test('all words have to be there, in any order and case, in the name or its group', () => {
  assert.deepEqual(found('agent NEW'), ['New agent']);
  assert.deepEqual(found('agents'), ['Agents', 'Röslein', 'عامل']);
  assert.deepEqual(found('röslein agents'), ['Röslein']);
  assert.deepEqual(found('عامل'), ['عامل']);
  assert.deepEqual(found('agent gone'), []);
});

test('what is typed is no pattern', () => {
  for (const text of ['.*', '(', '['.repeat(2000), '-'.repeat(2000)]) assert.deepEqual(found(text), []);
});

test('of a thousand only so many are shown', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ label: `agent ${index}`, group: 'Agents' }));
  assert.equal(findCommands(many, 'agent').found.length, MOST_FOUND);
  assert.equal(findCommands(many, 'agent').more, 1000 - MOST_FOUND);
});

test('the nearest is first: the name itself, what begins so, what has it, what stands beside it', () => {
  const named = (label: string, also?: string) => ({ label, group: 'Agents', also });
  const all = [named('Bo: Files'), named('Nabob'), named('Cost', 'bo'), named('Big Bo'), named('Bo')];
  assert.deepEqual(
    findCommands(all, ' bo ').found.map(({ label }) => label),
    ['Bo', 'Bo: Files', 'Big Bo', 'Nabob', 'Cost'],
  );
});

test('arrows stay within what was found', () => {
  assert.deepEqual([movedBy('ArrowDown', 0, 3), movedBy('ArrowDown', 2, 3)], [1, 2]);
  assert.deepEqual([movedBy('ArrowUp', 2, 3), movedBy('ArrowUp', 0, 3)], [1, 0]);
  assert.deepEqual([movedBy('ArrowDown', 0, 0), movedBy('ArrowUp', 0, 0)], [0, 0]);
  assert.equal(movedBy('Enter', 0, 3), undefined);
});
