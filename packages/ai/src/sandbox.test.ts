import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { silentLog } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createAi } from './ai.ts';
import { providersFrom } from './setup.ts';
import type { ChatMessage, ToolDefinition } from './types.ts';

const tool = (name: string, ...properties: string[]): ToolDefinition => ({
  type: 'function',
  function: {
    name,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(properties.map((each) => [each, { type: 'string' }])),
    },
  },
});

const TOOLS: ToolDefinition[] = [
  tool('shell', 'cmd', 'cwd'),
  tool('read_file', 'path'),
  tool('write_file', 'path', 'content'),
  tool('list_directory', 'path'),
  tool('add_memory', 'memory'),
  tool('search_memories', 'query'),
  tool('think', 'thought'),
  tool('create_todo', 'description'),
  {
    type: 'function',
    function: {
      name: 'transfer_task',
      parameters: {
        type: 'object',
        properties: { agent: { type: 'string', enum: ['Lead Engineer', 'Designer'] }, task: {}, expected_output: {} },
      },
    },
  },
];

const ai = createAi({ providers: providersFrom(testSettings()), catalogue: BUILT_IN_CATALOGUE, log: silentLog });

async function ask(text: string, tools: ToolDefinition[] | undefined = TOOLS, before: ChatMessage[] = []) {
  const { message, ...rest } = await ai.chat({ messages: [...before, { role: 'user', content: text }], tools });
  const calls = (message.tool_calls ?? []).map((call) => [
    call.function.name,
    JSON.parse(call.function.arguments) as unknown,
  ]);
  return { text: message.content ?? '', calls, ...rest };
}

describe('the sandbox model', () => {
  it('is offered only without a provider, and never in production or when it is off', () => {
    const names = (env: Record<string, string>) => providersFrom(testSettings(env)).map((provider) => provider.name);
    assert.deepEqual(names({}), ['sandbox']);
    assert.deepEqual(names({ GROQ_API_KEY: 'k' }), ['groq']);
    assert.deepEqual(names({ AI_SANDBOX: 'off' }), []);
    assert.deepEqual(names({ NODE_ENV: 'production' }), []);
  });

  it('says in every reply that it is the sandbox', async () => {
    const said = /sandbox/i;
    const answer = await ask('How are you?');
    assert.match(answer.text, said);
    assert.match(answer.text, /How are you\?/);
    assert.match((await ask('run ls')).text, said);
    assert.match((await ask('use nothing {}')).text, /sandbox.*no tool nothing/i);
    assert.deepEqual(
      [answer.model, answer.provider, answer.costMicros, answer.usageEstimated],
      ['sandbox/echo', 'sandbox', 0, true],
    );
  });

  for (const [text, name, args] of [
    ['use write_file {"path":"a.txt","content":"hi"}', 'write_file', { path: 'a.txt', content: 'hi' }],
    ['run ls -la', 'shell', { cmd: 'ls -la' }],
    ['read notes.md', 'read_file', { path: 'notes.md' }],
    ['write notes.md: two\nlines', 'write_file', { path: 'notes.md', content: 'two\nlines' }],
    ['list', 'list_directory', { path: '.' }],
    ['remember the code is 42', 'add_memory', { memory: 'the code is 42' }],
    ['recall code', 'search_memories', { query: 'code' }],
    ['think about it', 'think', { thought: 'about it' }],
    ['todo water the plants', 'create_todo', { description: 'water the plants' }],
    ['tell the engineer to build it', 'transfer_task', { agent: 'Lead Engineer', task: 'build it' }],
  ] as const) {
    it(`uses ${name} on "${text.split('\n')[0]}"`, async () => {
      const { calls, finishReason } = await ask(text);
      assert.deepEqual(calls, [[name, args]]);
      assert.equal(finishReason, 'tool_calls');
    });
  }

  it('takes several commands, one a line', async () => {
    const { calls } = await ask('remember tea\nrun date');
    assert.deepEqual(calls, [
      ['add_memory', { memory: 'tea' }],
      ['shell', { cmd: 'date' }],
    ]);
  });

  it('does not invent tools, and says what is wrong with arguments', async () => {
    assert.deepEqual((await ask('run ls', [])).calls, []);
    assert.match((await ask('use shell {"cmd":}')).text, /not valid JSON/);
  });

  it('answers with what the tools said', async () => {
    const { message } = await ai.chat({
      tools: TOOLS,
      messages: [
        { role: 'user', content: 'run date' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'shell', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'x', content: 'Monday' },
      ],
    });
    assert.match(message.content ?? '', /sandbox.*shell answered: Monday/i);
    assert.equal(message.tool_calls, undefined);
  });

  it('stands in for any model that the plan allows', async () => {
    const result = await ai.chat(
      { model: 'openrouter/xiaomi/mimo-v2-pro', messages: [{ role: 'user', content: 'Hi' }] },
      { scope: { userId: 'u', plan: 'solo' } },
    );
    assert.equal(result.model, 'sandbox/echo');
    await assert.rejects(ai.chat({ model: 'openai/gpt-4o', messages: [] }, { scope: { userId: 'u', plan: 'solo' } }), {
      status: 403,
    });
  });

  it('streams the same as it answers', async () => {
    let text = '';
    let pieces = 0;
    for await (const delta of ai.stream({ messages: [{ role: 'user', content: 'One two three' }] })) {
      text += delta.content ?? '';
      pieces += 1;
    }
    assert.ok(pieces > 5);
    assert.equal(text, (await ask('One two three', [])).text);
  });
});
