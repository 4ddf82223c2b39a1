import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionStep } from '@troupe/contract';
import { aligned, answerOf, filesUntil, memoriesUntil, modelsOf } from './beside.ts';
import { readRun } from './waterfall.ts';

const step = (seq: number, type: string, more: object = {}) =>
  ({ seq, at: new Date(seq * 1000).toISOString(), type, ...more }) as SessionStep;
const wrote = (seq: number, path: string, more: object = {}) => [
  step(seq, 'assistant', {
    model: 'small',
    toolCalls: [{ callId: path, tool: 'write_file', args: JSON.stringify({ path, content: 'x' }) }],
  }),
  step(seq + 1, 'tool_result', { callId: path, tool: 'write_file', content: 'ok', ...more }),
];

const prompt = step(1, 'user', { content: 'Go' });
const short = readRun([prompt, step(2, 'assistant', { content: 'Done', model: 'large' }), step(3, 'run_ended')], 0);
const long = readRun([prompt, ...wrote(2, 'a.md'), step(4, 'assistant', { content: 'Wrote it', model: 'small' })], 0);

test('steps of the same sort stand beside each other, in the order of both, each once', () => {
  const pairs = aligned(long.bars, short.bars);
  const sides = pairs.map(({ one, other }) => [one?.kind, other?.kind]);
  assert.equal(sides.filter(([, other]) => other !== undefined).length, short.bars.length);
  assert.equal(sides.filter(([one]) => one !== undefined).length, long.bars.length);
  assert.deepEqual(sides[0], ['prompt', 'prompt']);
  assert.ok(sides.some(([one, other]) => one === 'model' && other === 'model'));
  assert.ok(sides.some(([one, other]) => one === 'tool' && other === undefined));
  assert.equal(new Set(pairs.map(({ key }) => key)).size, pairs.length);
});

test('a run without steps stands beside one that has some', () => {
  assert.deepEqual(
    aligned([], short.bars).map(({ one, other }) => [one, other?.kind]),
    [
      [undefined, 'prompt'],
      [undefined, 'model'],
    ],
  );
  assert.deepEqual(aligned([], []), []);
});

test('what each wrote, said and was answered by', () => {
  assert.deepEqual([filesUntil(long), filesUntil(short)], [['a.md'], []]);
  assert.deepEqual(filesUntil(long, long.bars[0]), []);
  assert.deepEqual(filesUntil(readRun([prompt, ...wrote(2, 'b.md', { isError: true })], 0)), []);
  assert.deepEqual([answerOf(long), answerOf(short), answerOf(readRun([prompt], 0))], ['Wrote it', 'Done', '']);
  assert.deepEqual([modelsOf(long), modelsOf(short)], [['small'], ['large']]);
});

test('what the run had remembered until a step', () => {
  const remembered = (seq: number, memory: string, more: object = {}) => [
    step(seq, 'assistant', {
      model: 'small',
      toolCalls: [{ callId: memory, tool: 'add_memory', args: JSON.stringify({ memory }) }],
    }),
    step(seq + 1, 'tool_result', { callId: memory, tool: 'add_memory', content: 'ok', ...more }),
  ];
  const run = readRun(
    [prompt, ...remembered(2, 'one'), ...remembered(4, 'two'), ...remembered(6, 'x', { isError: true })],
    0,
  );
  assert.deepEqual(memoriesUntil(run, run.bars.at(-1)!), ['one', 'two']);
  assert.deepEqual(
    memoriesUntil(
      run,
      run.bars.find(({ name }) => name === 'add_memory')!,
    ),
    ['one'],
  );
});
