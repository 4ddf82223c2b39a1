import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { replyChat } from '@troupe/ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** OpenAI's Agents SDK, over responses and over chat completions. */

let world: World;
before(async () => {
  setTracingDisabled(true);
  world = await startWorld();
});
after(() => world.stop());

const weather = tool({
  name: 'weather',
  description: 'The weather',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve(`Sun in ${city}`),
});

for (const useResponses of [true, false])
  for (const stream of [false, true])
    it(`${useResponses ? 'responses' : 'chat completions'}${stream ? ', streamed' : ''}: a tool, then a handoff`, async () => {
      reset(world);
      world.openrouter.answer((request, response) => {
        const messages = request.body['messages'] as { role: string; content: string }[];
        const results = messages.filter(({ role }) => role === 'tool');
        const calls = [
          { name: 'weather', arguments: '{"city":"Bern"}' },
          { name: 'transfer_to_Writer', arguments: '{}' },
        ];
        const next = calls[results.length];
        if (next)
          return replyChat(request, response, {
            content: null,
            toolCalls: [{ id: `call_${results.length}`, ...next }],
          });
        replyChat(request, response, { content: `Written: ${results[0]?.content}` });
      });
      const openAIClient = new OpenAI({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key });
      const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }) });
      const writer = new Agent({ name: 'Writer', instructions: 'Write.', model: 'openai/gpt-4o' });
      const agent = new Agent({
        name: 'Asker',
        instructions: 'Ask.',
        model: 'openai/gpt-4o-mini',
        tools: [weather],
        handoffs: [writer],
      });
      const result = stream
        ? await runner.run(agent, 'Weather?', { stream: true })
        : await runner.run(agent, 'Weather?');
      if ('completed' in result) await result.completed;
      assert.match(String(result.finalOutput), /Written: .*Sun in Bern/);
      assert.equal(result.lastAgent?.name, 'Writer');
    });
