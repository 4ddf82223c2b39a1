import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { replyChat, replyJson, type StandInRequest } from '@troupe/ai';
import {
  APICallError,
  embedMany,
  generateObject,
  generateText,
  jsonSchema,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
} from 'ai';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** The AI SDK with three of its providers: responses, chat completions and messages. */

let world: World;
before(async () => {
  world = await startWorld();
});
beforeEach(() => reset(world));
after(() => world.stop());

const MODEL = 'openai/gpt-4o-mini';

const PROVIDERS: Record<string, () => { model: LanguageModel; options?: object }> = {
  '@ai-sdk/openai': () => ({
    model: createOpenAI({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key })(MODEL),
    // Without it the SDK would name items that it believes to be stored.
    options: { providerOptions: { openai: { store: false } } },
  }),
  '@ai-sdk/openai-compatible': () => ({
    model: createOpenAICompatible({
      name: 'troupe',
      baseURL: `${world.services.backend}/v1`,
      apiKey: world.user.key,
      includeUsage: true,
    })(MODEL),
  }),
  '@ai-sdk/anthropic': () => ({
    model: createAnthropic({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key })(MODEL),
  }),
};

/** Calls the tool once, then says what it answered. */
function withTool(request: StandInRequest, response: Parameters<typeof replyChat>[1]): void {
  const messages = (request.body['messages'] ?? []) as { role: string; content: string }[];
  const result = messages.findLast(({ role }) => role === 'tool');
  if (result) return replyChat(request, response, { content: `It says ${JSON.stringify(result.content)}.` });
  replyChat(request, response, {
    content: null,
    toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' }],
  });
}

for (const [name, make] of Object.entries(PROVIDERS))
  describe(name, () => {
    const tools = {
      weather: tool({
        description: 'The weather',
        inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
        execute: ({ city }) => Promise.resolve(`Sun in ${city}`),
      }),
    };

    it('generates text, with a picture', async () => {
      const { text, usage } = await generateText({
        ...make(),
        ...make().options,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'file', data: Buffer.from('hi'), mediaType: 'image/png' },
            ],
          },
        ],
      });
      assert.deepEqual([text, usage.totalTokens], ['Hello from the provider.', 19]);
      assert.match(JSON.stringify(world.openrouter.requests[0]!.body['messages']), /data:image\/png;base64,aGk=/);
    });

    it('runs tools over several steps, whole and in a stream', async () => {
      world.openrouter.answer(withTool);
      const ask = () => ({ ...make(), ...make().options, tools, prompt: 'Weather?', stopWhen: stepCountIs(3) });
      const whole = await generateText(ask());
      assert.match(whole.text, /Sun in Bern/);
      const streamed = streamText(ask());
      let said = '';
      for await (const piece of streamed.textStream) said += piece;
      assert.match(said, /Sun in Bern/);
      assert.equal((await streamed.steps).length, 2);
    });

    it('tells an error with its message', async () => {
      world.openrouter.answer((_request, response) => replyJson(response, { error: { message: 'bad' } }, 400));
      await assert.rejects(generateText({ ...make(), ...make().options, prompt: 'Hi', maxRetries: 0 }), (error) => {
        assert.ok(APICallError.isInstance(error));
        assert.equal(error.statusCode, 400);
        assert.match(error.message, /openrouter refused the request: bad/);
        return true;
      });
    });
  });

it('objects that keep to a schema', async () => {
  world.openrouter.answer((request, response) => replyChat(request, response, { content: '{"a":1}' }));
  const schema = jsonSchema<{ a: number }>({
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  });
  const { object } = await generateObject({
    ...PROVIDERS['@ai-sdk/openai']!(),
    prompt: 'Hi',
    schema,
  });
  assert.deepEqual(object, { a: 1 });
  assert.equal((world.openrouter.requests[0]!.body['response_format'] as { type: string }).type, 'json_schema');
});

it('embeddings', async () => {
  world.openrouter.answer((request, response) => {
    const data = (request.body['input'] as string[]).map((_, index) => ({ index, embedding: [index, 1] }));
    replyJson(response, { data, usage: { prompt_tokens: 3, total_tokens: 3 } });
  });
  const provider = createOpenAI({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key });
  const { embeddings } = await embedMany({
    model: provider.embedding('openai/text-embedding-3-small'),
    values: ['one', 'two'],
  });
  assert.deepEqual(embeddings, [
    [0, 1],
    [1, 1],
  ]);
});
