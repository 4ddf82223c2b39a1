import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { dockerEngine } from '@troupe/fleet';
import { ownDocker, type OwnDocker } from '@troupe/testing/containers/docker';
import { needs } from '@troupe/testing/machine/needs';
import { person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Facts out of conversations of an agent in a container, from the front door. */
describe('an agent in a container', { skip: needs('an own container engine'), timeout: 600_000 }, () => {
  let docker: OwnDocker;
  let services: Services;
  let model: StandIn;
  let boss: Person;
  let agentId: string;
  before(async () => {
    docker = await ownDocker();
    model = await createStandIn((request, response) => {
      const text = JSON.stringify(request.body['messages'] ?? '');
      if (!text.includes('You keep the memory of an AI agent'))
        return replyChat(request, response, { content: 'Noted.' });
      const content = text.includes('I moved to Oslo')
        ? '{"facts":[{"fact":"The user lives in Oslo.","message":1,"contradicts":[1]}]}'
        : '{"facts":[{"fact":"The user lives in Rome.","message":1,"contradicts":[]}]}';
      replyChat(request, response, { content });
    });
    services = await startServices({
      AGENT_DRIVER: 'docker',
      DOCKER_HOST: docker.host,
      AGENT_HOST_NETWORK: 'true',
      OPENROUTER_API_KEY: 'sk-test',
      OPENROUTER_BASE_URL: model.url,
    });
    boss = await person(services, { plan: 'network' });
    agentId = await provisioned(boss, { model: 'openai/gpt-4o-mini' });
  });
  after(async () => {
    await boss.ask('DELETE', `/api/agents/${agentId}`);
    await services.stop();
    await model.close();
    await docker.close();
  });

  const care = async (): Promise<Body> => (await boss.ask('GET', `/api/agents/${agentId}/memory`)).body;
  async function until(check: () => Promise<boolean>, what: string): Promise<void> {
    for (let n = 0; !(await check()); n += 1) {
      assert.ok(n < 400, what);
      await delay(500);
    }
  }

  /** Its conversations have rested for an hour, and nobody has looked for two. False: it has not begun to look. */
  async function rested(): Promise<boolean> {
    const engine = await dockerEngine(docker.host);
    const [container] = await engine.listContainers({ filters: { label: [`troupe.agent=${agentId}`] } });
    const { Source } = container!.Mounts.find(({ Type }: Body) => Type === 'volume') as Body;
    const file = new DatabaseSync(path.join(Source, 'agent.db'));
    file.exec('pragma busy_timeout = 5000');
    const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    file.prepare('update sessions set updated_at = ?').run(ago(1));
    const { changes } = file.prepare('update fact_care set seen_at = ?').run(ago(2));
    file.close();
    return Number(changes) === 1;
  }
  const looks = async (): Promise<void> => until(async () => (await care()).memories !== undefined, 'it is asked');
  const say = async (message: string): Promise<void> => {
    const said = await boss.ask('POST', '/api/chat', { agentId, message });
    assert.equal(said.status, 200, JSON.stringify(said.body));
  };
  const found = async (): Promise<Body[]> => (await care()).found;

  test('its facts are found, shown with their source, and decided about', { timeout: 540_000 }, async () => {
    const set = await boss.ask('PUT', `/api/agents/${agentId}/memory`, { facts: true });
    assert.equal(set.status, 200, JSON.stringify(set.body));
    await looks();
    await say('I live in Rome.');
    await until(rested, 'it looks');
    await until(async () => (await found()).length === 1, 'a fact is found');
    const [first] = await found();
    assert.equal(first!['content'], 'The user lives in Rome.');
    assert.ok(first!['conversationId'] && first!['conversation']);
    await say('I moved to Oslo.');
    await rested();
    await until(async () => (await found()).length === 2, 'the next is found');
    const [second] = await found();
    assert.deepEqual(
      second!['contradicts'].map(({ id }: Body) => id),
      [first!['id']],
    );
    const decided = await boss.ask('POST', `/api/agents/${agentId}/memory/facts/${second!['id']}`, { keep: 'this' });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    assert.deepEqual(
      decided.body.found.map(({ content }: Body) => content),
      ['The user lives in Oslo.'],
    );
    await boss.ask('POST', `/api/instance/${agentId}/stop`, {});
    assert.match((await care()).factsNote, /is not running now/);
  });
});
