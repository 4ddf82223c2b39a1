import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ChatResult, ModelClient } from '@troupe/ai';
import type { EvaluationCheck } from '@troupe/contract';
import type { Trial } from '@troupe/fleet';
import { AppError, createWorkerPool } from '@troupe/kernel';
import { scored } from './scoring.ts';

/** How a trial is measured. What is tried, the gate and what survives is tested through the front door, in web. */

const pool = createWorkerPool();
after(() => pool.close());

const TRIAL: Trial = {
  outcome: 'done',
  answer: 'Brest',
  reason: undefined,
  calls: [{ tool: 'fetch', args: '{"url":"https://example.com"}', isError: false, isRun: true }],
  spent: { turns: 1, tokens: 10, costMicros: 20, ms: 1500 },
};

const asked: string[] = [];
const judge = (content: string | Error, provider = 'stand-in'): ModelClient => ({
  chat: async ({ messages }) => {
    asked.push(JSON.stringify(messages));
    if (content instanceof Error) throw content;
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const result: Partial<ChatResult> = { message: { role: 'assistant', content }, usage, costMicros: 7, provider };
    return result as ChatResult;
  },
  stream: () => {
    throw new Error('nobody listens');
  },
});

const score = (checks: EvaluationCheck[], model = judge('{"passed": true}')) =>
  scored({ pool, owner: 'ann', model, modelName: 'm', signal: new AbortController().signal }, 'Where?', TRIAL, checks);
const JUDGED: EvaluationCheck = { kind: 'judge', criteria: 'It names a port.' };

test('a judge is read by a schema; what is no verdict is none, and costs what it costs', async () => {
  for (const [content, passed, says] of [
    ['{"passed": true, "reason": "It does."}', true, /^It does\.$/],
    ['```json\n{"passed": false, "reason": "No."}\n```', false, /^No\.$/],
    ['Yes, certainly!', null, /no verdict that can be used/],
    ['{"passed": "yes"}', null, /no verdict that can be used/],
    ['', null, /no verdict that can be used/],
  ] as const) {
    const { verdicts, tokens, costMicros } = await score([JUDGED], judge(content));
    assert.equal(verdicts[0]?.passed, passed, content);
    assert.match(verdicts[0]?.says ?? '', says);
    assert.deepEqual([tokens, costMicros], [5, 7]);
  }
  const alone = await score([JUDGED], judge('{"passed": true}', 'sandbox'));
  assert.deepEqual([alone.verdicts[0]?.passed, /only the sandbox/.test(alone.verdicts[0]?.says ?? '')], [null, true]);
  const capped = await score([JUDGED], judge(new AppError(429, 'Spend cap reached')));
  assert.deepEqual(capped, {
    verdicts: [{ passed: null, says: 'The judge could not be asked: Spend cap reached' }],
    tokens: 0,
    costMicros: 0,
  });
});

test('a judge is not asked when another check is not met', async () => {
  asked.length = 0;
  const { verdicts } = await score([JUDGED, { kind: 'contains', text: 'Lisbon' }]);
  assert.deepEqual(
    verdicts.map(({ passed }) => passed),
    [null, false],
  );
  assert.equal(asked.length, 0);
});

test('tools, cost and time are measured; an expression that takes for ever is stopped', async () => {
  const { verdicts } = await score([
    { kind: 'called', tool: 'fetch', with: 'EXAMPLE.com' },
    { kind: 'called', tool: 'fetch', with: 'elsewhere' },
    { kind: 'not_called', tool: 'fetch' },
    { kind: 'cost', mostUsd: 0.00002 },
    { kind: 'cost', mostUsd: 0.00001 },
    { kind: 'time', mostSeconds: 1 },
    { kind: 'regex', pattern: '^(?:(?:[a-z]+)+)+!$' },
  ]);
  assert.deepEqual(
    verdicts.map(({ passed }) => passed),
    [true, false, false, true, false, false, false],
  );
});
