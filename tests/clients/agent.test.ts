import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { replyChat } from '@troupe/ai';
import OpenAI from 'openai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** An agent as a model: the official clients, with an API key of its owner. */

const PNG = `iVBORw0KGgo${'A'.repeat(80)}`;
/** More than a message may have, and than a body of other endpoints. */
const LARGE = Buffer.from(`${'word '.repeat(600_000)}the end`);

let world: World;
let url: string;
let agentId: string;
/** What the model was shown last. */
let shown: { role: string; content: unknown }[] = [];
const uploads = async (): Promise<string[]> => {
  const path = `${world.services.web}/api/agents/${agentId}/files?path=uploads`;
  const { body } = await send(path, 'GET', undefined, { authorization: `Bearer ${world.user.key}` });
  return (body.entries as { name: string }[]).map(({ name }) => name).toSorted();
};
before(async () => {
  world = await startWorld();
  const headers = { authorization: `Bearer ${world.user.key}` };
  const made = await send(
    `${world.services.web}/api/agents/provision`,
    'POST',
    { name: 'Ada', model: 'openai/gpt-4o-mini' },
    headers,
  );
  agentId = made.body.agent.id;
  url = `${world.services.backend}/api/runtime/proxy/${agentId}`;
});
beforeEach(() => {
  reset(world);
  world.openrouter.answer((request, response) => {
    const messages = request.body['messages'] as { role: string; content: string }[];
    shown = messages;
    const result = messages.findLast(({ role }) => role === 'tool');
    if (result) return replyChat(request, response, { content: `It is ${result.content}.` });
    const offered = JSON.stringify(request.body['tools'] ?? []).includes('"weather"');
    if (!offered) return replyChat(request, response);
    replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: 'weather', arguments: '{}' }] });
  });
});
after(() => world.stop());

describe('pictures and files', () => {
  it('of the client of OpenAI reach the model and the workspace, each once', async () => {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: world.user.key, maxRetries: 0 });
    const picture = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PNG}` } };
    const asked = { role: 'user' as const, content: [{ type: 'text' as const, text: 'What is it?' }, picture] };
    await openai.chat.completions.create({ model: 'ada', messages: [asked] });
    assert.match(
      JSON.stringify(shown.at(-1)),
      /What is it\?.*attached picture: uploads\/.*data:image\/png;base64,iVBOR/,
    );
    // The whole conversation comes again, as clients send it, and something is added.
    const data = LARGE.toString('base64');
    const file = { filename: 'long.txt', file_data: `data:text/plain;base64,${data}` };
    const more = { role: 'user' as const, content: [{ type: 'file' as const, file }] };
    await openai.chat.completions.create({
      model: 'ada',
      messages: [asked, { role: 'assistant', content: 'A picture.' }, more],
    });
    assert.match(JSON.stringify(shown.at(-1)), /iVBOR/, 'the earlier picture is still shown');
    assert.match(JSON.stringify(shown.at(-1)), /long\.txt.*word word.*the rest is in the file/);
    const names = await uploads();
    assert.deepEqual(names.map((name) => name.replace(/^[0-9a-f]{12}-/, '')).toSorted(), ['long.txt', 'picture.png']);
    await assert.rejects(
      openai.chat.completions.create({
        model: 'ada',
        messages: [{ role: 'user', content: Array.from({ length: 11 }, () => picture) }],
      }),
      { status: 400, message: '400 At most 10 attachments' },
    );
  });

  it('of responses and of the client of Anthropic do, too', async () => {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: world.user.key, maxRetries: 0 });
    const image = { type: 'input_image' as const, image_url: `data:image/png;base64,${PNG}`, detail: 'auto' as const };
    await openai.responses.create({ model: 'ada', input: [{ role: 'user', content: [image] }] });
    assert.match(JSON.stringify(shown.at(-1)), /iVBOR/);
    const client = new Anthropic({ baseURL: url, apiKey: world.user.key, maxRetries: 0 });
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PNG };
    await client.messages.create({
      model: 'ada',
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    });
    assert.match(JSON.stringify(shown.at(-1)), /And now\?.*iVBOR/);
    assert.equal((await uploads()).filter((name) => name.endsWith('picture.png')).length, 1);
  });
});

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
