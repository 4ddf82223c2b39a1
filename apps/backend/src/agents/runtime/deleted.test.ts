import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '@troupe/contract';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { ownDocker } from '@troupe/testing/containers/docker';
import { needs } from '@troupe/testing/machine/needs';
import { askBackend, person, provisioned, type Body } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Whoever waits for an agent that is deleted meanwhile hears that there is none, in the words of the way they came. */

async function deletedMidway(services: Services, director: Director): Promise<void> {
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
  const proxy = `/api/runtime/proxy/${agentId}/sessions`;
  const { body: listed } = await askBackend(services, 'GET', proxy);
  // Its head has come: from here on it follows.
  const events = await fetch(`${services.backend}${proxy}/${listed.sessions[0].id}/events`, {
    headers: { authorization: `Bearer ${TEST_SECRETS.internalKey}` },
  });
  assert.equal(events.status, 200);
  assert.equal((await ann.ask('DELETE', `/api/agents/${agentId}`)).status, 200);

  assert.deepEqual(await open.chat, { status: 404, body: { error: 'No agent deployed' } });
  const told = (await open.gateway) as { status: number; body: { error: unknown } };
  assert.deepEqual([told.status, errorText(told.body.error)], [404, 'Agent not found']);
  const ended = ({ body }: Body): string => String(body).trimEnd().split('\n\n').slice(-2).join('\n\n');
  assert.match(ended(await open.streamedChat), /event: error\n(?:id: .*\n)?data: \{"error":"No agent deployed"\}$/);
  assert.match(
    ended(await open.streamedGateway),
    /(?:^|\n)data: \{"error":(?:"Agent not found","code":"AGENT_GONE"\}\n\ndata: \[DONE\]|\{"message":"Agent not found".*\}\})$/,
  );
  assert.match(await events.text(), /data: \{"error":"Agent not found"(?:,"code":"AGENT_GONE")?\}\n/);
}

const DRIVERS = [
  { driver: 'embedded', skip: false },
  { driver: 'docker', skip: needs('an own container engine') },
] as const;

for (const { driver, skip } of DRIVERS)
  test(
    `an agent of the ${driver} driver, through chat and gateway, plain and streamed`,
    { skip, timeout: 90_000 },
    async (t) => {
      const director = await createDirector();
      t.after(() => director.provider.close());
      const docker = driver === 'docker' ? await ownDocker() : undefined;
      t.after(() => docker?.close());
      const services = await startServices({
        OPENROUTER_API_KEY: 'or-key',
        OPENROUTER_BASE_URL: director.provider.url,
        AGENT_DRIVER: driver,
        AGENT_HOST_NETWORK: 'true',
        ...(docker && { DOCKER_HOST: docker.host }),
      });
      t.after(() => services.stop());
      await deletedMidway(services, director);
    },
  );
