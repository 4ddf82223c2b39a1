import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { OpenAI } from '@llamaindex/openai';
import { replyChat, replyJson } from '@troupe/ai';
import { FunctionTool } from 'llamaindex';
import { z } from 'zod';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** LangChain and LlamaIndex, as their users set them up. */

let world: World;
before(async () => {
  world = await startWorld();
});
beforeEach(() => {
  reset(world);
  world.openrouter.answer((request, response) => {
    const result = (request.body['messages'] as { role: string; content: string }[]).findLast(
      ({ role }) => role === 'tool',
    );
    if (result) return replyChat(request, response, { content: `It is ${result.content}.` });
    if (!JSON.stringify(request.body['tools'] ?? []).includes('"weather"')) return replyChat(request, response);
    replyChat(request, response, {
      content: null,
      toolCalls: [{ id: 'c', name: 'weather', arguments: '{"city":"Rome"}' }],
    });
  });
});
after(() => world.stop());

const model = 'openai/gpt-4o-mini';
const where = () => ({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key });

for (const useResponsesApi of [false, true])
  it(`LangChain talks, streams and calls tools over ${useResponsesApi ? 'responses' : 'chat completions'}`, async () => {
    const { apiKey, baseURL } = where();
    const llm = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, useResponsesApi, maxRetries: 0 });
    assert.equal((await llm.invoke('Hi')).text, 'Hello from the provider.');
    let said = '';
    for await (const chunk of await llm.stream('Hi')) said += chunk.text;
    assert.equal(said, 'Hello from the provider.');
    const weather = tool(({ city }) => `sunny in ${city}`, {
      name: 'weather',
      description: 'The weather',
      schema: z.object({ city: z.string() }),
    });
    const asked = [{ role: 'user' as const, content: 'Weather?' }];
    const called = await llm.bindTools([weather]).invoke(asked);
    const result = await weather.invoke(called.tool_calls![0]!);
    const answer = await llm.bindTools([weather]).invoke([...asked, called, result]);
    assert.equal(answer.text, 'It is sunny in Rome.');
  });

it('LangChain embeds', async () => {
  world.openrouter.answer((_request, response) =>
    replyJson(response, { data: [{ embedding: [0.5, 0.25], index: 0 }], usage: { prompt_tokens: 3, total_tokens: 3 } }),
  );
  const { apiKey, baseURL } = where();
  const embeddings = new OpenAIEmbeddings({
    model: 'openai/text-embedding-3-small',
    apiKey,
    configuration: { baseURL },
    maxRetries: 0,
  });
  assert.deepEqual(await embeddings.embedQuery('sea'), [0.5, 0.25]);
});

it('LlamaIndex talks, streams and calls tools', async () => {
  const llm = new OpenAI({ model, ...where(), maxRetries: 0, supportToolCall: true });
  const { message } = await llm.chat({ messages: [{ role: 'user', content: 'Hi' }] });
  assert.equal(message.content, 'Hello from the provider.');
  let said = '';
  for await (const { delta } of await llm.chat({ messages: [{ role: 'user', content: 'Hi' }], stream: true }))
    said += delta;
  assert.equal(said, 'Hello from the provider.');
  const weather = FunctionTool.from(({ city }: { city: string }) => `sunny in ${city}`, {
    name: 'weather',
    description: 'The weather',
    parameters: z.object({ city: z.string() }),
  });
  const { newMessages, toolCalls } = await llm.exec({
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [weather],
  });
  assert.equal(toolCalls[0]?.name, 'weather');
  assert.match(JSON.stringify(newMessages), /sunny in Rome/);
});
