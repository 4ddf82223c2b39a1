import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '@troupe/kernel';
import OpenAI from 'openai';
import { counter, testAgent, type Script } from '../testing.ts';
import { createGateway } from './gateway.ts';

/** What callers of an agent's /v1 bring with them: tools of their own, and wishes about the answer. */

const WEATHER = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

/** Uses the agent's own tool and the caller's in one breath, then says what came of it. */
const script: Script = ({ messages }) => {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  const said = String(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  if (results.length > 0 && !said.startsWith('instead')) return `Got ${results.join(' and ')}`;
  if (!said.startsWith('use')) return `heard ${said}`;
  return {
    say: 'Let me look.',
    calls: [
      { tool: 'count', args: { what: 'mine' } },
      { tool: 'weather', args: { city: 'Bern' } },
    ],
  };
};

const { agent, model } = await testAgent({ script, toolList: [counter().tool] });
const gateway = createGateway({
  agent: () => Promise.resolve(agent),
  verify: (_, token) =>
    Promise.resolve(
      token === 'owner' ? { id: 'owner', kind: 'owner' } : token === 'sk_1' ? { id: 'key:1', kind: 'key' } : undefined,
    ),
  publicUrl: () => 'http://agent',
  version: '0',
  log: silentLog,
});
const server = createServer((request, response) => {
  void gateway.handle(request, response, { agentId: 'a', path: request.url ?? '/' });
});
let openai: OpenAI;
let base: string;
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'owner', maxRetries: 0 });
});
after(async () => {
  await gateway.close();
  await agent.sleep();
  server.close();
  server.closeAllConnections();
});

const asked = { role: 'user' as const, content: 'use them' };
const ask = (messages: OpenAI.ChatCompletionMessageParam[], more: object = {}) =>
  openai.chat.completions.create({ model: 'x', messages, tools: [WEATHER], ...more });

describe('tools of the caller’s', () => {
  test('are called back, beside the agent’s own, and the run goes on with their results', async () => {
    const first = await ask([asked]);
    const { message, finish_reason: reason } = first.choices[0]!;
    assert.equal(reason, 'tool_calls');
    assert.equal(message.content, 'Let me look.');
    const [call, more] = message.tool_calls ?? [];
    assert.ok(call?.type === 'function' && more === undefined, 'the agent’s own call is not shown');
    assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ['weather', { city: 'Bern' }]);
    const second = await ask([asked, message, { role: 'tool', tool_call_id: call.id, content: 'Sun' }]);
    assert.match(second.choices[0]!.message.content ?? '', /^Got .*mine.* and Sun$/);
    assert.ok((second.usage?.completion_tokens ?? 0) > 0 && second.usage!.prompt_tokens > 0);
    // Nobody waits for it any more.
    const asked_ = model.requests.length;
    await assert.rejects(ask([asked, message, { role: 'tool', tool_call_id: call.id, content: 'Rain' }]), {
      status: 400,
    });
    assert.equal(model.requests.length, asked_);
  });

  test('are called back in a stream, and in the other protocols', async () => {
    const stream = openai.chat.completions.stream({ model: 'x', messages: [asked], tools: [WEATHER] });
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0]?.message.tool_calls?.[0]?.type, 'function');
    const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: false }];
    const response = await openai.responses.create({ model: 'x', input: 'use them', tools });
    const call = response.output.find((item) => item.type === 'function_call');
    assert.equal(call?.name, 'weather');
    const next = await openai.responses.create({
      model: 'x',
      tools,
      input: [
        { role: 'user', content: 'use them' },
        ...(response.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: call!.call_id, output: 'Snow' },
      ],
    });
    assert.match(next.output_text, /and Snow$/);
  });

  test('are no longer waited for when the caller says something else', async () => {
    const user = { user: 'impatient' };
    await ask([asked], user);
    const { choices } = await ask([{ role: 'user', content: 'instead' }], user);
    assert.equal(choices[0]!.message.content, 'heard instead');
    const told = model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
    assert.match(JSON.stringify(told), /The caller gave no result/);
  });

  test('of another conversation, or of nobody’s, are refused', async () => {
    const first = await ask([asked]);
    const { message } = first.choices[0]!;
    const id = message.tool_calls![0]!.id;
    const stranger = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'sk_1', maxRetries: 0 });
    for (const [client, name] of [
      [stranger, id],
      [openai, 'call_1'],
      [openai, `${id}x`],
    ] as const)
      await assert.rejects(
        client.chat.completions.create({
          model: 'x',
          messages: [asked, message, { role: 'tool', tool_call_id: name, content: 'x' }],
        }),
        { status: 400, message: `400 No run of this agent waits for the result of ${name}` },
      );
  });
});

describe('wishes', () => {
  test('reach the model', async () => {
    const format = { type: 'json_schema' as const, json_schema: { name: 'a', schema: { type: 'object' } } };
    await ask([{ role: 'user', content: 'hello' }], { temperature: 0.3, response_format: format, max_tokens: 50 });
    const { temperature, response_format: given, max_tokens: limit, tools } = model.requests.at(-1)!;
    assert.deepEqual([temperature, given, limit], [0.3, format, 50]);
    assert.deepEqual(
      tools?.map((tool) => tool.function.name),
      ['count', 'weather'],
    );
  });

  test('for pictures by address and several choices are refused by name', async () => {
    const picture = { type: 'image_url' as const, image_url: { url: 'https://pictures.example/a.png' } };
    await assert.rejects(ask([{ role: 'user', content: [{ type: 'text', text: 'What?' }, picture] }]), {
      status: 400,
      message: '400 Pictures and files come inside of a request: an address is not fetched',
    });
    await assert.rejects(ask([{ role: 'user', content: 'x' }], { n: 2 }), { status: 400 });
  });

  test('an API key of the owner’s has conversations of its own, and errors have the protocol’s shape', async () => {
    const withKey = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'sk_1', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    await withKey.chat.completions.create({ model: 'x', user: 'u', messages });
    const sessions = await agent.store.sessions({ limit: 100, offset: 0, keys: 'key:1:' });
    assert.deepEqual(
      sessions.map(({ key }) => key),
      ['key:1:u'],
    );
    const response = await fetch(`${base}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'wrong' } });
    assert.deepEqual(await response.json(), {
      type: 'error',
      error: { type: 'authentication_error', message: 'Unauthorized' },
    });
  });
});
