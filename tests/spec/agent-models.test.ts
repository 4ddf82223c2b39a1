import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStandIn } from '@troupe/ai';
import { person } from '../lib/people.ts';
import { startServices } from '../lib/services.ts';

test('an agent made with the default model thinks with what the installation has', async () => {
  const openai = await createStandIn();
  const services = await startServices({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: openai.url });
  try {
    for (const [plan, model] of [
      ['network', 'gpt-4o-mini'],
      ['solo', 'gpt-4o-mini'],
    ] as const) {
      const ada = await person(services, { plan });
      const { body: made } = await ada.ask('POST', '/api/agents/provision', { name: 'Ada' });
      const { status, body } = await ada.ask('POST', '/api/chat', { message: 'Hello', agentId: made.agent.id });
      assert.deepEqual([status, body.reply], [200, 'Hello from the provider.'], JSON.stringify(body));
      assert.equal(openai.requests.at(-1)?.body['model'], model);
    }
  } finally {
    await services.stop();
    await openai.close();
  }
});
