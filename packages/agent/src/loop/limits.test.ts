import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '@troupe/kernel';
import { z } from 'zod';
import { newDefinition } from '@troupe/domain';
import { TOKENS_A_CALL, counter, lastText, testAgent, web } from '../testing.ts';
import { tool } from '../tools/tool.ts';

const limits = { maxTurns: 50, maxTokens: 1e6, maxCostMicros: 1e9, maxSeconds: 600 };

describe('caps', () => {
  const forever = (_: unknown, turn: number) => ({
    say: `step ${turn}`,
    calls: [{ tool: 'count', args: { what: String(turn) } }],
  });

  for (const [what, cap, expected] of [
    ['turns', { maxTurns: 3 }, 3],
    ['tokens', { maxTokens: 2 * TOKENS_A_CALL }, 2],
    ['USD', { maxCostMicros: 400 }, 4],
  ] as const) {
    test(`on ${what} end a run`, async () => {
      const { agent, model } = await testAgent({
        script: forever,
        toolList: [counter().tool],
        definition: { limits: { ...limits, ...cap } },
      });
      const answer = await agent.ask({ to: web, content: 'go' });
      assert.equal(answer.outcome, 'limit');
      assert.match(answer.reason ?? '', new RegExp(what));
      assert.equal(model.requests.length, expected);
      assert.equal((await agent.ask({ to: web, content: 'again' })).outcome, 'limit');
    });
  }

  test('on time end a run, also in the middle of a tool', async () => {
    const sleeper = tool({
      name: 'sleep',
      toolset: 'x',
      description: '',
      args: z.object({}),
      repeatable: true,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    });
    const { agent } = await testAgent({
      script: () => ({ calls: [{ tool: 'sleep', args: {} }] }),
      toolList: [sleeper],
      definition: { limits: { ...limits, maxSeconds: 1 } },
    });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.deepEqual([answer.outcome, answer.reason], ['limit', 'The limit of 1 seconds is reached.']);
  });

  test('on time end a run in the middle of a model call too', async () => {
    const { agent, model } = await testAgent({
      script: (_, turn, signal) =>
        turn > 1
          ? 'fine'
          : new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
      definition: { limits: { ...limits, maxSeconds: 1 } },
    });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.deepEqual([answer.outcome, answer.reason], ['limit', 'The limit of 1 seconds is reached.']);
    assert.equal((await agent.ask({ to: web, content: 'again' })).reply, 'fine');
    assert.equal(model.requests.length, 2);
  });

  test('of the day hold over sessions', async () => {
    const config = {
      ...newDefinition({ name: 'x' }).config,
      safety: { maxTokensPerDay: TOKENS_A_CALL, allowedDomains: [] },
    };
    const { agent, model } = await testAgent({ definition: { config } });
    assert.equal((await agent.ask({ to: web, content: 'a' })).outcome, 'done');
    const second = await agent.ask({ to: { channel: 'web', key: 'other' }, content: 'b' });
    assert.match(second.reply, /15 tokens a day is reached/);
    assert.equal(model.requests.length, 1);
  });

  test('of an input are kept when they are tighter than the agent’s', async () => {
    const { agent, model } = await testAgent({ script: forever, toolList: [counter().tool] });
    await agent.ask({ to: web, content: 'go', limits: { ...limits, maxTurns: 2 } });
    assert.equal(model.requests.length, 2);
  });

  test('of money are the model client’s: what it says ends the run, and no fallback is asked', async () => {
    const config = newDefinition({ name: 'x' }).config;
    const { agent, model } = await testAgent({
      definition: { config: { ...config, model: { ...config.model, fallbacks: ['another'] } } },
      script: () => Promise.reject(new AppError(402, 'The budget is used up')),
    });
    const refused = await agent.ask({ to: web, content: 'a' });
    assert.deepEqual([refused.outcome, refused.reason], ['failed', 'The budget is used up']);
    assert.equal(model.requests.length, 1);
  });
});

describe('a loop', () => {
  test('of the same call with the same result is noticed, then ended', async () => {
    const same = tool({
      name: 'same',
      toolset: 'x',
      description: '',
      args: z.object({}),
      repeatable: true,
      run: async () => 'as before',
    });
    const { agent, model } = await testAgent({
      script: () => ({ calls: [{ tool: 'same', args: {} }] }),
      toolList: [same],
    });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.equal(answer.outcome, 'loop');
    assert.equal(model.requests.length, 5);
    assert.match(lastText(model.requests[3]!), /made several times/);
  });

  test('of several calls is noticed too', async () => {
    const same = tool({
      name: 'same',
      toolset: 'x',
      description: '',
      args: z.object({ n: z.number() }),
      repeatable: true,
      run: async () => 'as before',
    });
    const { agent, model } = await testAgent({
      script: (_, turn) => ({ calls: [{ tool: 'same', args: { n: turn % 2 } }] }),
      toolList: [same],
    });
    assert.equal((await agent.ask({ to: web, content: 'go' })).outcome, 'loop');
    assert.equal(model.requests.length, 10);
  });
});

describe('a long history', () => {
  test('is summed up for the model, and the log stays whole', async () => {
    const { agent, model, store } = await testAgent({
      script: (request) =>
        request.messages[0]?.content?.toString().startsWith('Summarise')
          ? 'SUMMARY'
          : `heard ${lastText(request).slice(0, 3)}`,
      compactAt: 500,
    });
    let sessionId = '';
    for (let turn = 0; turn < 8; turn++) {
      ({ sessionId } = await agent.ask({ to: web, content: `${turn}: ${'long '.repeat(100)}` }));
    }
    const shown = model.requests.at(-1)?.messages ?? [];
    assert.match(String(shown[1]?.content), /^Summary of the conversation so far:\nSUMMARY/);
    assert.ok(shown.length < 10);
    const log = await store.events(sessionId, { after: 0, limit: 1000 });
    assert.equal(log.filter(({ type }) => type === 'user').length, 8);
    assert.ok(log.some(({ type }) => type === 'compaction'));
    assert.deepEqual(
      log.map(({ seq }) => seq),
      log.map((_, index) => index + 1),
    );
  });

  test('a run that is summed up in its middle keeps its caps', async () => {
    const big = tool({
      name: 'big',
      toolset: 'x',
      description: '',
      args: z.object({ n: z.number() }),
      repeatable: true,
      run: async ({ n }) => `${n} ${'long '.repeat(200)}`,
    });
    const { agent, store } = await testAgent({
      script: (request, turn) => (request.tools ? { calls: [{ tool: 'big', args: { n: turn } }] } : 'SUMMARY'),
      toolList: [big],
      compactAt: 600,
      definition: { limits: { ...limits, maxTurns: 12 } },
    });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.deepEqual([answer.outcome, answer.spent.turns], ['limit', 12]);
    const log = await store.events(answer.sessionId, { after: 0, limit: 1000 });
    assert.ok(log.filter(({ type }) => type === 'compaction').length > 0);
  });
});
