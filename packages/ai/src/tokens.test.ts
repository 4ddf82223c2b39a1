import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateUsage, maxPromptTokens } from './tokens.ts';

test('everything that the model reads is in the bound and in the estimate', () => {
  const ask = { messages: [{ role: 'user' as const, content: 'Hi' }] };
  const long = { description: 'x'.repeat(40_000) };
  for (const more of [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: long } } },
    { tools: [{ type: 'function' as const, function: { name: 'look', parameters: long } }] },
  ]) {
    assert.ok(maxPromptTokens({ ...ask, ...more }) - maxPromptTokens(ask) >= 40_000);
    assert.ok(estimateUsage({ ...ask, ...more }, 0).prompt_tokens >= 10_000);
  }
});

test('an estimate counts what is not ASCII for more', () => {
  const ask = (content: string) => ({ messages: [{ role: 'user' as const, content }] });
  assert.equal(estimateUsage(ask('a'.repeat(400)), 400).total_tokens, 200);
  assert.equal(estimateUsage(ask('語'.repeat(400)), 0).prompt_tokens, 300);
});

test('an estimate stays below what was set aside for the call', () => {
  const ask = { messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 50 };
  const { prompt_tokens, completion_tokens } = estimateUsage(ask, 4_000_000);
  assert.equal(completion_tokens, 50);
  assert.ok(prompt_tokens <= maxPromptTokens(ask));
});
