import assert from 'node:assert/strict';
import { once } from 'node:events';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { AppError } from '@troupe/kernel';
import { z } from 'zod';
import type { LiveEvent } from '../agent.ts';
import { newDefinition, type AgentDefinition } from '@troupe/domain';
import type { ToolCallRecord } from '../ports.ts';
import { TOKENS_A_CALL, callOnce, counter, lastText, testAgent, web } from '../testing.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import type { AgentStore } from '../store/store.ts';
import { tool } from '../tools/tool.ts';

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
      ['heard one', 'heard two'],
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
    const calls: ToolCallRecord[] = [];
    const { agent } = await testAgent({
      script: callOnce(),
      toolList: [count],
      onTool: (record) => calls.push(record),
    });
    const answer = await agent.ask({ to: web, content: 'go' });
    assert.equal(answer.reply, 'told: x is 1');
    assert.deepEqual(seen, ['x']);
    assert.deepEqual(
      { ...answer.spent, ms: 0 },
      { turns: 2, tokens: 2 * TOKENS_A_CALL, costMicros: 200, ms: 0, outputTokens: 10 },
    );
    assert.deepEqual(
      calls.map(({ tool: name, success }) => [name, success]),
      [['count', true]],
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

  test('the most exact rule counts, and the configuration’s before the definition’s', async () => {
    const { tool: count } = counter('numbers');
    const ruled = async (approvals: AgentDefinition['approvals'], own: AgentDefinition['approvals'] = {}) => {
      const { config } = newDefinition({ name: 'x' });
      const { agent } = await testAgent({
        script: callOnce(),
        toolList: [count],
        definition: { approvals, config: { ...config, safety: { ...config.safety, approvals: own } } },
      });
      const { outcome, reply } = await agent.ask({ to: web, content: 'go' });
      return outcome === 'waiting' ? 'ask' : /does not allow/.test(reply) ? 'deny' : 'allow';
    };
    assert.equal(await ruled({}), 'allow');
    assert.equal(await ruled({ '*': 'deny' }), 'deny');
    assert.equal(await ruled({ '*': 'deny', numbers: 'ask' }), 'ask');
    assert.equal(await ruled({ '*': 'deny', numbers: 'ask', count: 'allow' }), 'allow');
    assert.equal(await ruled({ count: 'allow' }, { count: 'deny' }), 'deny');
    assert.equal(await ruled({ '*': 'deny' }, { '*': 'ask' }), 'ask');
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

  test('a process that loses its lease leaves the work to the next, and its caller gets that one’s answer', async () => {
    const hang = (_: unknown, _turn: number, signal?: AbortSignal) =>
      new Promise<string>((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const inner = createSqliteStore({ file: ':memory:', agentId: 'agent' });
    let owner = '';
    const store: AgentStore = {
      ...inner,
      deliver: (delivery) => {
        owner = delivery.claim?.owner ?? owner;
        return inner.deliver(delivery);
      },
    };
    const one = await testAgent({ script: hang, store, leaseMs: 60_000, renewMs: 20 });
    const asked = one.agent.ask({ to: web, content: 'go' });
    while (one.model.requests.length === 0) await new Promise(setImmediate);
    const [session] = await one.store.sessions({ limit: 1, offset: 0 });
    await one.store.release(session?.id ?? '', owner);
    const two = await testAgent({ script: () => 'from the other', store: inner });
    assert.equal(await two.agent.resume(), 1);
    assert.equal((await asked).reply, 'from the other');
  });

  test('an agent that goes to sleep hands its work back', async () => {
    const hang = (_: unknown, _turn: number, signal?: AbortSignal) =>
      new Promise<string>((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const one = await testAgent({ script: hang });
    const asked = one.agent.ask({ to: web, content: 'go' });
    while (one.model.requests.length === 0) await new Promise(setImmediate);
    const refused = assert.rejects(asked, { status: 503 });
    await one.agent.sleep();
    await refused;
    const two = await testAgent({ script: () => 'woken', store: one.store });
    assert.equal(await two.agent.resume(), 1);
    assert.equal((await two.agent.ask({ to: web, content: 'more' })).reply, 'woken');
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
