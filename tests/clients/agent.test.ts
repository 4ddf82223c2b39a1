import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { replyChat } from '@troupe/ai';
import OpenAI from 'openai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** An agent as a model: the official clients, with an API key of its owner. */

let world: World;
let url: string;
before(async () => {
  world = await startWorld();
  const headers = { authorization: `Bearer ${world.user.key}` };
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, headers);
  url = `${world.services.backend}/api/runtime/proxy/${made.body.agent.id}`;
});
beforeEach(() => {
  reset(world);
  world.openrouter.answer((request, response) => {
    const messages = request.body['messages'] as { role: string; content: string }[];
    const result = messages.findLast(({ role }) => role === 'tool');
    if (result) return replyChat(request, response, { content: `It is ${result.content}.` });
    const offered = JSON.stringify(request.body['tools'] ?? []).includes('"weather"');
    if (!offered) return replyChat(request, response);
    replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: 'weather', arguments: '{}' }] });
  });
});
after(() => world.stop());

describe('the owner’s key', () => {
  it('opens the agent to the client of OpenAI, whose tools are called back', async () => {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: world.user.key, maxRetries: 0 });
    const plain = await openai.chat.completions.create({ model: 'ada', messages: [{ role: 'user', content: 'Hi' }] });
    assert.equal(plain.choices[0]?.message.content, 'Hello from the provider.');
    assert.equal(plain.usage?.completion_tokens, 7);
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
    const asked = { role: 'user' as const, content: 'Weather?' };
    const first = await openai.chat.completions.create({ model: 'ada', tools, messages: [asked] });
    const { message } = first.choices[0]!;
    const id = message.tool_calls![0]!.id;
    const messages = [asked, message, { role: 'tool' as const, tool_call_id: id, content: 'sunny' }];
    const second = await openai.chat.completions.create({ model: 'ada', tools, messages });
    assert.equal(second.choices[0]?.message.content, 'It is sunny.');
  });

  it('and to the client of Anthropic, also in a stream', async () => {
    const client = new Anthropic({ baseURL: url, apiKey: world.user.key, maxRetries: 0 });
    const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];
    const asked = { role: 'user' as const, content: 'Weather?' };
    const first = await client.messages
      .stream({ model: 'ada', max_tokens: 100, tools, messages: [asked] })
      .finalMessage();
    const call = first.content.find((block) => block.type === 'tool_use')!;
    const second = await client.messages.create({
      model: 'ada',
      max_tokens: 100,
      tools,
      messages: [
        asked,
        { role: 'assistant', content: first.content as Anthropic.ContentBlockParam[] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'windy' }] },
      ],
    });
    assert.deepEqual(second.content, [{ type: 'text', text: 'It is windy.' }]);
  });

  it('of somebody else does not', async () => {
    const { key } = await addUser(world.services.runtime, { plan: 'network' });
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    await assert.rejects(openai.models.list(), { status: 401, type: 'authentication_error' });
  });
});
