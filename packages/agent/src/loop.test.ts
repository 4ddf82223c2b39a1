import assert from 'node:assert/strict';
import { once } from 'node:events';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { AppError } from '@troupe/kernel';
import { z } from 'zod';
import type { LiveEvent } from './agent.ts';
import { newDefinition } from './definition.ts';
import type { ModelCallRecord, ToolCallRecord } from './ports.ts';
import { TOKENS_A_CALL, lastText, testAgent, web } from './testing.ts';
import { tool } from './tool.ts';

const limits = { maxTurns: 50, maxTokens: 1e6, maxCostMicros: 1e9, maxSeconds: 600 };

const counter = (toolset = 'count', repeatable = false) => {
  const seen: string[] = [];
  return {
    seen,
    tool: tool({
      name: 'count',
      toolset,
      description: 'counts',
      args: z.object({ what: z.string() }),
      repeatable,
      run: async ({ what }) => {
        seen.push(what);
        return `${what} is ${seen.length}`;
      },
    }),
  };
};

const callOnce =
  (what = 'x') =>
  (request: { messages: { role: string }[] }) =>
    request.messages.at(-1)?.role === 'tool'
      ? `told: ${(request.messages.at(-1) as unknown as { content: string }).content}`
      : { calls: [{ tool: 'count', args: { what } }] };

describe('a conversation', () => {
  test('has its history and answers each input', async () => {
    const { agent, model } = await testAgent({ script: (request) => `heard ${lastText(request)}` });
    assert.equal((await agent.ask({ to: web, content: 'one' })).reply, 'heard one');
    assert.equal((await agent.ask({ to: web, content: 'two' })).reply, 'heard two');
    assert.deepEqual(
      model.requests[1]?.messages.slice(1).map(({ content }) => content),
      ['one', 'heard one', 'two'],
    );
    const [system] = model.requests[0]?.messages ?? [];
    assert.match(String(system?.content), /Your name is Ada/);
  });

  test('takes the same input once and answers it the same', async () => {
    const { agent, model } = await testAgent({ script: (_, turn) => `answer ${turn}` });
    const input = { to: web, content: 'one', inputId: 'i' };
    const answers = [await agent.ask(input), await agent.ask(input)];
    assert.deepEqual(
      answers.map(({ reply }) => reply),
      ['answer 1', 'answer 1'],
    );
    assert.equal(model.requests.length, 1);
  });

  test('an input that comes while the agent works is answered too', async () => {
    const gate = new EventEmitter();
    const { agent, model } = await testAgent({
      script: async (request, turn) => {
        if (turn === 1) await once(gate, 'go');
        return `heard ${lastText(request)}`;
      },
    });
    const first = agent.ask({ to: web, content: 'one' });
    while (model.requests.length === 0) await new Promise(setImmediate);
    const second = agent.ask({ to: web, content: 'two' });
    while ((await agent.store.messages({ limit: 1, offset: 0 })).total < 2) await new Promise(setImmediate);
    gate.emit('go');
    assert.deepEqual(
      (await Promise.all([first, second])).map(({ reply }) => reply),
      ['heard two', 'heard two'],
    );
    const shown = model.requests[1]?.messages.slice(1).map(({ content }) => content);
    assert.deepEqual(shown, ['one', 'heard one', 'two']);
  });

  test('text is passed on while it is written', async () => {
    const { agent } = await testAgent({ script: () => 'three small words' });
    const { sessionId } = await agent.ask({ to: web, content: 'x' });
    const live: LiveEvent[] = [];
    const stop = agent.watch(sessionId, (event) => live.push(event));
    await agent.ask({ to: web, content: 'y' });
    stop();
    assert.deepEqual(
      live.flatMap((event) => (event.kind === 'delta' ? [event.text] : [])),
      ['three ', 'small ', 'words'],
    );
  });
});

describe('tools', () => {
  test('run, and the model is told the result', async () => {
    const { seen, tool: count } = counter();
    const usage: (ModelCallRecord | ToolCallRecord)[] = [];
    const { agent } = await testAgent({ script: callOnce(), toolList: [count], usage: (record) => usage.push(record) });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.equal(answer.reply, 'told: x is 1');
    assert.deepEqual(seen, ['x']);
    assert.deepEqual({ ...answer.spent, ms: 0 }, { turns: 2, tokens: 2 * TOKENS_A_CALL, costMicros: 200, ms: 0 });
    assert.deepEqual(
      usage.map(({ kind }) => kind),
      ['model', 'tool', 'model'],
    );
  });

  test('that do not exist, get broken arguments or throw are told to the model', async () => {
    const broken = tool({
      name: 'broken',
      toolset: 'x',
      description: '',
      args: z.object({}),
      repeatable: true,
      run: async () => {
        throw new Error('it broke');
      },
    });
    const { tool: count } = counter();
    const calls = [
      { tool: 'nothing', args: {} },
      { tool: 'count', args: '{"what":' },
      { tool: 'count', args: { what: 5 } },
      { tool: 'broken', args: {} },
    ];
    const { agent, model } = await testAgent({
      script: (_, turn) => (turn === 1 ? { calls } : 'done'),
      toolList: [count, broken],
    });
    assert.equal((await agent.ask({ to: web, content: 'go' })).outcome, 'done');
    const results = model.requests[1]?.messages.slice(-4).map(({ content }) => String(content)) ?? [];
    assert.match(results[0] ?? '', /There is no tool nothing. Tools: count, broken/);
    assert.match(results[1] ?? '', /not valid JSON/);
    assert.match(results[2] ?? '', /Invalid arguments. what/);
    assert.equal(results[3], 'it broke');
  });
});

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

  test('the spend gate is asked before and told after each call, and its no ends the run', async () => {
    const settled: unknown[] = [];
    let open = true;
    const spend = {
      reserve: async () => {
        if (!open) throw new AppError(402, 'The budget is used up');
        return { settle: async (actual: unknown) => void settled.push(actual) };
      },
    };
    const { agent } = await testAgent({ spend });
    await agent.ask({ to: web, content: 'a' });
    assert.deepEqual(settled, [{ tokens: TOKENS_A_CALL, costMicros: 100 }]);
    open = false;
    const refused = await agent.ask({ to: web, content: 'b' });
    assert.deepEqual([refused.outcome, refused.reason], ['failed', 'The budget is used up']);
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

describe('cancelling', () => {
  test('ends a model call at once', async () => {
    const { agent, model } = await testAgent({
      script: (_, turn, signal) =>
        turn > 1
          ? 'fine'
          : new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    });
    const answer = agent.ask({ to: web, content: 'go' });
    while (model.requests.length === 0) await new Promise(setImmediate);
    const [session] = await agent.store.sessions({ limit: 1, offset: 0 });
    assert.equal(await agent.cancel(session?.id ?? '', 'me'), true);
    assert.equal((await answer).outcome, 'cancelled');
    assert.equal(await agent.cancel(session?.id ?? '', 'me'), false);
    assert.equal((await agent.ask({ to: web, content: 'next' })).reply, 'fine');
    await assert.rejects(agent.cancel('nothing', 'me'), { status: 404 });
  });

  test('reaches the process that does the work', async () => {
    const waiting = (_: unknown, _turn: number, signal?: AbortSignal) =>
      new Promise<string>((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const { agent, store, model } = await testAgent({ script: waiting, renewMs: 20 });
    const other = await testAgent({ store });
    const answer = agent.ask({ to: web, content: 'go' });
    while (model.requests.length === 0) await new Promise(setImmediate);
    const [session] = await store.sessions({ limit: 1, offset: 0 });
    await other.agent.cancel(session?.id ?? '', 'me');
    assert.equal((await answer).outcome, 'cancelled');
  });
});

describe('approvals', () => {
  test('deny: the tool does not run; ask: it waits, over a restart, until somebody decides', async () => {
    const { seen, tool: count } = counter();
    const denied = await testAgent({
      script: callOnce(),
      toolList: [count],
      definition: { approvals: { count: 'deny' } },
    });
    assert.match((await denied.agent.ask({ to: web, content: 'go' })).reply, /does not allow count/);

    const options = { script: callOnce(), toolList: [count], definition: { approvals: { '*': 'ask' as const } } };
    const { agent, store } = await testAgent(options);
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.equal(answer.outcome, 'waiting');
    assert.deepEqual(seen, []);
    await agent.sleep();

    const { agent: woken } = await testAgent({ ...options, store });
    const [pending] = await store.pendingApprovals();
    assert.deepEqual([pending?.tool, pending?.args], ['count', '{"what":"x"}']);
    assert.equal(await woken.resume(), 0);
    await woken.decide(pending?.approvalId ?? '', true, 'owner');
    await assert.rejects(woken.decide(pending?.approvalId ?? '', true, 'owner'), { status: 409 });
    await assert.rejects(woken.decide('nothing', true, 'owner'), { status: 404 });
    for await (const live of woken.follow(answer.sessionId, 0, AbortSignal.timeout(5000))) {
      if (live.kind === 'event' && live.event.type === 'run_ended') break;
    }
    assert.deepEqual(seen, ['x']);
  });

  test('refused: the model is told', async () => {
    const { seen, tool: count } = counter();
    const { agent, store } = await testAgent({
      script: callOnce(),
      toolList: [count],
      definition: { approvals: { count: 'ask' } },
    });
    const { sessionId } = await agent.ask({ to: web, content: 'go' });
    const [pending] = await store.pendingApprovals();
    await agent.decide(pending?.approvalId ?? '', false, 'owner');
    let reply = '';
    for await (const live of agent.follow(sessionId, 0, AbortSignal.timeout(5000))) {
      if (live.kind === 'event' && live.event.type === 'assistant') reply = live.event.content;
      if (live.kind === 'event' && live.event.type === 'run_ended') break;
    }
    assert.match(reply, /refused this call/);
    assert.deepEqual(seen, []);
  });
});

describe('a model that fails', () => {
  test('is replaced by a fallback', async () => {
    const config = { ...newDefinition({ name: 'x' }).config, model: { default: 'first', fallbacks: ['second'] } };
    const script = ({ model }: { model?: string }) => {
      if (model === 'first') throw new AppError(502, 'down');
      return `from ${model}`;
    };
    const { agent } = await testAgent({ script, definition: { config } });
    assert.equal((await agent.ask({ to: web, content: 'go' })).reply, 'from second');
  });

  test('ends the run with its reason, also between tool calls; the next input works', async () => {
    const { tool: count, seen } = counter();
    const { agent } = await testAgent({
      toolList: [count],
      script: (request, turn) => {
        if (turn === 2) throw new AppError(502, 'Provider is down');
        return callOnce()(request);
      },
    });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.deepEqual([answer.outcome, answer.reason], ['failed', 'Provider is down']);
    assert.equal((await agent.ask({ to: web, content: 'again' })).reply, 'told: x is 2');
    assert.equal(seen.length, 2);
  });
});

describe('the heartbeat', () => {
  test('calls no model when there is nothing to do, and works on open todos', async () => {
    const { agent, model, store } = await testAgent({ definition: { tools: ['todo'] } });
    for (let beat = 0; beat < 100; beat++) assert.equal(await agent.heartbeat(), undefined);
    assert.equal(model.requests.length, 0);
    await store.addTodos('agent', ['water the plants']);
    assert.equal((await agent.heartbeat())?.outcome, 'done');
    assert.match(lastText(model.requests[0]!), /water the plants/);
  });
});

describe('two processes', () => {
  test('work on a session one at a time, and both callers get their answer', async () => {
    let working = 0;
    let most = 0;
    const script = async (request: Parameters<typeof lastText>[0]) => {
      most = Math.max(most, ++working);
      await new Promise((resolve) => setTimeout(resolve, 5));
      working--;
      return `heard ${lastText(request)}`;
    };
    const one = await testAgent({ script });
    const two = await testAgent({ script, store: one.store });
    const asks = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : two).agent.ask({ to: web, content: `q${index}` }),
    );
    const answers = await Promise.all(asks);
    assert.ok(answers.every(({ outcome }) => outcome === 'done'));
    assert.equal(most, 1);
  });

  test('configuration that one takes over counts in the other', async () => {
    const one = await testAgent();
    const two = await testAgent({ store: one.store });
    await one.agent.configure({ model: { default: 'new/model' } });
    await two.agent.ask({ to: web, content: 'x' });
    assert.equal(two.model.requests[0]?.model, 'new/model');
    await assert.rejects(one.agent.configure({ memory: { maxEntries: 0 } }), { status: 400 });
  });
});
