import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOfRun } from '@troupe/domain';
import { readRun } from './waterfall.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const ms = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
const spent = (seconds: number, costMicros = 0) => ({ turns: 1, tokens: 10, costMicros, ms: seconds * 1000 });

const STEPS = [
  { seq: 1, at: at(0), type: 'user', content: 'Write' },
  {
    seq: 2,
    at: at(2),
    type: 'assistant',
    model: 'm',
    spent: spent(2, 5),
    toolCalls: [{ callId: 'c', tool: 'write_file', args: '{"path":"a"}' }],
  },
  { seq: 3, at: at(2), type: 'approval_requested', approvalId: 'p', callId: 'c', tool: 'write_file', args: '{}' },
  { seq: 4, at: at(12), type: 'approval_decided', approvalId: 'p', callId: 'c', approved: true },
  { seq: 5, at: at(13), type: 'tool_result', callId: 'c', tool: 'write_file', spent: spent(1), content: 'ok' },
  { seq: 6, at: at(16), type: 'assistant', model: 'm', spent: spent(3, 7), content: 'Done' },
  { seq: 7, at: at(16), type: 'run_ended', outcome: 'done', spent: spent(6, 12) },
  { seq: 8, at: at(20), type: 'user', content: 'Next' },
];

test('a run is bars of the model, of tools and of who was waited for', () => {
  const run = readRun(stepsOfRun(STEPS, 1), ms(99));
  assert.deepEqual(
    run.bars.map(({ kind, start, end }) => [kind, (start - ms(0)) / 1000, (end - ms(0)) / 1000]),
    [
      ['prompt', 0, 0],
      ['model', 0, 2],
      ['person', 2, 12],
      ['tool', 12, 13],
      ['model', 13, 16],
    ],
  );
  assert.deepEqual([run.costMicros, run.waitedMs, run.outcome, run.end], [12, 10_000, 'done', ms(16)]);
  assert.equal(run.bars[3]?.args, '{"path":"a"}');
});

test('one that goes on grows, and what waits is a bar up to now', () => {
  const run = readRun(stepsOfRun(STEPS.slice(0, 3), 1), ms(30));
  assert.deepEqual([run.bars.at(-1)?.kind, run.end, run.outcome, run.waitedMs], ['person', ms(30), undefined, 28_000]);
  assert.deepEqual(readRun(stepsOfRun(STEPS, 8), ms(21)).bars.length, 1);
  assert.deepEqual(readRun([], ms(1)).bars, []);
});

test('work in the background is a branch behind the call that began it, up to now while it goes on', () => {
  const task = {
    id: 'c',
    sessionId: 's',
    runSeq: 1,
    member: 'qa',
    memberId: 'm',
    memberSession: 'x',
    task: 't',
    result: '',
    status: 'running' as const,
    spent: null,
    createdAt: at(13),
    endedAt: null,
  };
  const goesOn = readRun(stepsOfRun(STEPS, 1), ms(40), [task]);
  assert.deepEqual(
    goesOn.bars.map(({ kind }) => kind),
    ['prompt', 'model', 'person', 'tool', 'branch', 'model'],
  );
  assert.deepEqual(
    [goesOn.bars[4]?.name, goesOn.bars[4]?.end, goesOn.end, goesOn.workedMs],
    ['qa', ms(40), ms(40), 6000],
  );
  const over = readRun(stepsOfRun(STEPS, 1), ms(40), [{ ...task, id: 'gone', status: 'failed', endedAt: at(15) }]);
  assert.deepEqual([over.bars.at(-1)?.kind, over.bars.at(-1)?.isError, over.end], ['branch', true, ms(16)]);
});
