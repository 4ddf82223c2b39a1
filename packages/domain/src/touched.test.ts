import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTouched, MOST_TOUCHED } from './touched.ts';

let seq = 0;
const step = (type: string, more: object = {}) => ({ seq: (seq += 1), at: `2026-03-01T00:00:${seq}Z`, type, ...more });
const called = (tool: string, args: object, isError = false) => {
  const callId = `c${seq}`;
  return [
    step('assistant', { toolCalls: [{ callId, tool, args: JSON.stringify(args) }] }),
    step('tool_result', { callId, isError }),
  ];
};

function touched(...steps: ReturnType<typeof step>[]) {
  const all = createTouched();
  all.take(steps);
  return all.files().map(({ path, how }) => [path, how]);
}

test('says what was done to each file last, the newest first', () => {
  assert.deepEqual(
    touched(
      step('user', { attachments: [{ path: 'uploads/a.pdf' }] }),
      ...called('write_file', { path: './plan.md', content: 'x' }),
      ...called('read_file', { path: 'notes//b.md' }),
      ...called('read_file', { path: 'plan.md' }),
      ...called('delete_file', { path: 'old.md' }),
      ...called('move_file', { source: 'c.md', destination: 'd.md' }),
      ...called('list_directory', { path: '.' }),
    ),
    [
      ['d.md', 'written'],
      ['c.md', 'removed'],
      ['old.md', 'removed'],
      ['plan.md', 'written'],
      ['notes/b.md', 'read'],
      ['uploads/a.pdf', 'attached'],
    ],
  );
});

test('what failed, what is no path and what nobody has called touch nothing', () => {
  assert.deepEqual(
    touched(
      ...called('write_file', { path: 'a.md' }, true),
      ...called('write_file', { path: '../secret' }),
      ...called('write_file', { path: 7 }),
      ...called('write_file', { path: 'x'.repeat(2000) }),
      ...called('constructor', { path: 'b.md' }),
      step('assistant', { toolCalls: [{ callId: 'broken', tool: 'write_file', args: '{"path":' }] }),
      step('tool_result', { callId: 'broken' }),
      step('tool_result', { callId: 'nobody' }),
      step('assistant', { toolCalls: [{ callId: 'open', tool: 'write_file', args: '{"path":"c.md"}' }] }),
    ),
    [],
  );
});

test('the newest are kept, however many there are', () => {
  const files = touched(
    ...Array.from({ length: MOST_TOUCHED + 10 }, (_, n) => called('read_file', { path: `${n}.md` })).flat(),
  );
  assert.deepEqual([files.length, files[0]![0], files.at(-1)![0]], [MOST_TOUCHED, `${MOST_TOUCHED + 9}.md`, '10.md']);
});
