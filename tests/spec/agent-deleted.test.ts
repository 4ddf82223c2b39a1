import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDirector, steps, type Director } from '../lib/director.ts';
import { askBackend, person, provisioned, type Body } from '../lib/people.ts';
import { startServices, type Services } from '../lib/services.ts';

/** Whoever waits for an agent that is deleted meanwhile hears that there is none, in the words of the way they came. */

let services: Services;
let director: Director;
before(async () => {
  director = await createDirector();
  services = await startServices({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: director.provider.url });
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

test(
  'an agent that is deleted while it answers: chat and gateway, plain and streamed',
  { timeout: 60_000 },
  async () => {
    const ann = await person(services, { plan: 'solo' });
    const agentId = await provisioned(ann);
    const chat = (name: string, headers = {}) =>
      ann.ask('POST', '/api/chat', { agentId, message: steps({ wait: name }), topic: name }, headers);
    const gateway = (name: string, more = {}) =>
      askBackend(services, 'POST', `/api/runtime/proxy/${agentId}/v1/chat/completions`, {
        messages: [{ role: 'user', content: steps({ wait: name }) }],
        user: name,
        ...more,
      });
    const open = {
      chat: chat('chat'),
      streamedChat: chat('streamedChat', { accept: 'text/event-stream' }),
      gateway: gateway('gateway'),
      streamedGateway: gateway('streamedGateway', { stream: true }),
    };
    for (const name of Object.keys(open)) await director.waits(name);
    assert.equal((await ann.ask('DELETE', `/api/agents/${agentId}`)).status, 200);

    assert.deepEqual(await open.chat, { status: 404, body: { error: 'No agent deployed' } });
    assert.deepEqual(await open.gateway, { status: 404, body: { error: 'Agent not found' } });
    const ended = ({ body }: Body): string => String(body).trimEnd().split('\n\n').slice(-2).join('\n\n');
    assert.match(ended(await open.streamedChat), /event: error\n(?:id: .*\n)?data: \{"error":"No agent deployed"\}$/);
    assert.match(ended(await open.streamedGateway), /^data: \{"error":"Agent not found"\}\n\ndata: \[DONE\]$/);
  },
);
