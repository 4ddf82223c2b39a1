import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionStep } from '@troupe/contract';
import { processorMs } from '@troupe/testing/machine/processor';
import { draftOf } from './draft.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** A run of so many calls, each of which failed with these words. */
const failing = (count: number, content: string): SessionStep[] => [
  { seq: 1, at: AT, type: 'user', content: 'Look at it' },
  ...Array.from({ length: count }, (_, index): SessionStep[] => {
    const callId = `call-${index}`;
    const toolCalls = [{ callId, tool: 'shell', args: '{"cmd":"look"}' }];
    return [
      { seq: 2 * index + 2, at: AT, type: 'assistant', toolCalls } as SessionStep,
      { seq: 2 * index + 3, at: AT, type: 'tool_result', callId, isError: true, content } as SessionStep,
    ];
  }).flat(),
];

test('of a long run the first failures are told, in time by what is shown of them', () => {
  let body = '';
  const ms = processorMs(() => {
    ({ body } = draftOf(failing(2500, `token = abcdefgh ${'token   =   '.repeat(800)}`)));
  });
  assert.ok(ms < 1000, `${ms} ms`);
  assert.equal(body.match(/ failed: /g)?.length, 10);
  assert.ok(!body.includes('abcdefgh'));
});
