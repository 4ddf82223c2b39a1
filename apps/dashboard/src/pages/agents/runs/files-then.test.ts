import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionStep } from '@troupe/contract';
import { fileThen } from './files-then.ts';

let seq = 0;
const did = (tool: string, args: object, result: Partial<SessionStep> = {}): SessionStep[] => {
  const callId = `c${(seq += 1)}`;
  const at = '2026-01-01T00:00:00Z';
  return [
    { seq: (seq += 1), at, type: 'assistant', toolCalls: [{ callId, tool, args: JSON.stringify(args) }] },
    { seq: (seq += 1), at, type: 'tool_result', callId, tool, content: 'ok', isError: false, ...result },
  ] as SessionStep[];
};
const write = (path: string, content: string) => did('write_file', { path, content });
const edit = (path: string, oldText: string, newText: string, result?: Partial<SessionStep>) =>
  did('edit_file', { path, edits: [{ oldText, newText }] }, result);
const text = (steps: SessionStep[], path = 'plan.md') => {
  const found = fileThen(steps, path);
  return found.kind === 'text' ? found.text : found.kind;
};

test('a file is what was written to it and changed in it until then', () => {
  const steps = [...write('./plan.md', 'Berlin 4 May'), ...edit('plan.md', '4 May', '5 May, $& $1')];
  assert.equal(text(steps.slice(0, 1)), 'unknown');
  assert.equal(text(steps.slice(0, 2)), 'Berlin 4 May');
  assert.equal(text(steps), 'Berlin 5 May, $& $1');
  assert.equal(text([...steps, ...write('plan.md', 'anew')]), 'anew');
  // A call that failed has changed nothing.
  assert.equal(text([...steps, ...edit('plan.md', 'Berlin', 'Rome', { isError: true })]), 'Berlin 5 May, $& $1');
});

test('what was there before is known when it was read as a whole, and not otherwise', () => {
  assert.equal(text(edit('plan.md', 'a', 'b')), 'unknown');
  const read = (content: string, more: object = {}) => did('read_file', { path: 'plan.md', ...more }, { content });
  assert.equal(text([...read('a tour'), ...edit('plan.md', 'a', 'the')]), 'the tour');
  assert.equal(text([...read('a tour\n[3 more lines]'), ...edit('plan.md', 'a', 'the')]), 'unknown');
  assert.equal(text([...read('a tour', { offset: 2 }), ...edit('plan.md', 'a', 'the')]), 'unknown');
  assert.equal(text([...write('plan.md', 'x'), ...edit('plan.md', 'not in it', 'y')]), 'unknown');
});

test('what is moved or deleted is told with all that is below it', () => {
  const made = [...write('a/plan.md', 'x'), ...did('move_file', { source: 'a', destination: 'b' })];
  assert.deepEqual([text(made, 'a/plan.md'), text(made, 'b/plan.md')], ['removed', 'x']);
  assert.equal(text([...made, ...did('delete_file', { path: 'b' })], 'b/plan.md'), 'removed');
  assert.equal(text(did('move_file', { source: 'a', destination: 'plan.md' })), 'unknown');
});

test('a program that ran since may have changed it', () => {
  const steps = [...write('plan.md', 'x'), ...did('shell', { cmd: 'make' })];
  assert.deepEqual(fileThen(steps, 'plan.md'), { kind: 'text', text: 'x', unsure: true });
  assert.deepEqual(fileThen([...steps, ...write('plan.md', 'y')], 'plan.md'), {
    kind: 'text',
    text: 'y',
    unsure: false,
  });
});
