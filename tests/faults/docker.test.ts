import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dockerEngine } from '@troupe/fleet';
import { WebSocket } from 'ws';
import { ownDocker, type OwnDocker } from '@troupe/testing/containers/docker';
import { needs } from '@troupe/testing/machine/needs';
import { askBackend, person, provisioned, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Agents in containers, from the front door, on an engine that is stopped and started under them. */
describe('agents in containers', { skip: needs('an own container engine') }, () => {
  let docker: OwnDocker;
  let services: Services;
  let boss: Person;
  const made: string[] = [];
  before(async () => {
    docker = await ownDocker();
    services = await startServices({ AGENT_DRIVER: 'docker', DOCKER_HOST: docker.host, AGENT_HOST_NETWORK: 'true' });
    boss = await person(services, { plan: 'network' });
  });
  after(async () => {
    for (const id of made) await boss.ask('DELETE', `/api/agents/${id}`);
    await services.stop();
    await docker.close();
  });

  const say = (agentId: string, message: string) => boss.ask('POST', '/api/chat', { agentId, message });
  async function until(what: string, done: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; !(await done()); tries += 1) {
      assert.ok(tries < 150, what);
      await delay(200);
    }
  }

  describe('a team', () => {
    let team: Body;
    let lead: string;
    let helper: string;
    const member = (name: string) => ({
      name,
      role: 'Helper',
      description: 'Helps',
      instruction: 'Help.',
      model: 'xiaomi/mimo-v2-pro',
      tools: ['memory', 'todo', 'think', 'filesystem'],
      memoryShared: true,
    });
    before(async () => {
      const reply = await boss.ask('POST', '/api/provision/team', {
        plan: 'network',
        customAgents: [member('chief'), member('scout'), member('clerk')],
      });
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      team = reply.body;
      made.push(...team.agents.map((one: Body) => one.agentId));
      [lead, helper] = team.agents.map((one: Body) => one.agentId);
    });

    test('each member runs in a container of its own', async () => {
      assert.deepEqual(
        team.agents.map((one: Body) => one.status),
        ['running', 'running', 'running'],
      );
      const engine = await dockerEngine(docker.host);
      const containers = await engine.listContainers({ filters: { label: ['troupe.agent'] } });
      assert.deepEqual(
        containers.map(({ Labels }) => String(Labels['troupe.agent'])).sort(),
        team.agents.map((one: Body) => one.agentId).sort(),
      );
    });

    test('the lead hands a task over, and pays for it', async () => {
      const said = await say(lead, 'tell scout remember the code is 4242');
      assert.equal(said.status, 200, JSON.stringify(said.body));
      const heard = await boss.ask('GET', `/api/agents/${helper}/messages`);
      assert.ok(
        heard.body.messages.some((one: Body) => one.sender === 'user' && one.content.includes('4242')),
        JSON.stringify(heard.body),
      );
      const { sessions } = (await boss.ask('GET', `/api/agents/${lead}/sessions`)).body;
      const { events } = (await boss.ask('GET', `/api/agents/${lead}/sessions/${sessions[0].id}`)).body;
      const ended = events.findLast((one: Body) => one.type === 'run_ended');
      assert.ok(ended.spent.turns >= 4, `two turns of its own and two of the member: ${JSON.stringify(ended)}`);
    });

    test('they share memory and to-do list', async () => {
      const memory = async (id: string) => JSON.stringify((await boss.ask('GET', `/api/memory?agentId=${id}`)).body);
      for (const { agentId } of team.agents) assert.match(await memory(agentId), /4242/);
      assert.match((await say(lead, 'recall 4242')).body.reply, /4242/);
      await say(lead, 'use create_todos {"descriptions":["sweep the deck"]}');
      assert.match((await say(helper, 'use list_todos {}')).body.reply, /1 \[pending\] sweep the deck/);
      await say(helper, 'use update_todo {"id":"1","status":"completed"}');
      assert.match((await say(lead, 'use list_todos {}')).body.reply, /1 \[completed\] sweep the deck/);
      const outsider = await provisioned(boss);
      made.push(outsider);
      assert.doesNotMatch(await memory(outsider), /4242/);
      const token = (await boss.ask('GET', `/api/agents/${outsider}/token`)).body.token;
      const taken = await fetch(`${services.backend}/v1/team-store`, {
        method: 'POST',
        headers: { authorization: `Bearer sk_${token}`, 'content-type': 'application/json', 'x-agent-id': lead },
        body: JSON.stringify({ op: 'recall', limit: 10 }),
      });
      assert.equal(taken.status, 404, 'an agent is who its key says');
    });

    test('one that fails does not fail the others', async () => {
      for (const { agentId } of team.agents) await boss.ask('POST', `/api/instance/${agentId}/stop`, {});
      const broken = team.agents[2].agentId;
      await services.runtime.db.system
        .updateTable('agents')
        .set({ image: 'nothing/there:1' })
        .where('id', '=', broken)
        .execute();
      const again = await askBackend(
        services,
        'POST',
        '/api/deployments/team',
        { teamId: team.teamId, yaml: team.yaml_config },
        { 'x-user-id': boss.id },
      );
      assert.deepEqual(
        again.body.agents.map((one: Body) => [one.status, one.error]),
        [
          ['running', undefined],
          ['running', undefined],
          ['failed', 'There is no image nothing/there:1 on the container engine'],
        ],
      );
      assert.equal((await boss.ask('GET', `/api/agents/${broken}`)).body.agent.status, 'failed');
      assert.equal((await say(lead, 'tell scout think twice')).status, 200);
      assert.match((await say(lead, 'tell clerk think twice')).body.reply, /cannot be reached|not running/i);
    });

    test('no container shows a secret of the platform', async () => {
      const engine = await dockerEngine(docker.host);
      const secrets = Object.values(services.runtime.secrets).filter((one) => typeof one === 'string');
      assert.ok(secrets.length >= 3);
      for (const { Id } of await engine.listContainers({ all: true })) {
        const shown = JSON.stringify(await engine.getContainer(Id).inspect());
        for (const secret of [...secrets, services.runtime.databaseUrl]) assert.ok(!shown.includes(secret));
      }
    });
  });

  test('an engine that is stopped is told of in a sentence, and everything goes on when it is back', async () => {
    const id = await provisioned(boss);
    const unwanted = await provisioned(boss);
    const idle = await provisioned(boss);
    made.push(id, idle);
    await say(id, 'remember the harbour');
    await docker.stop();
    const error = 'The container engine is not available';
    for (const action of ['start', 'restart', 'stop', 'repair', 'update', 'reset-memory'])
      assert.deepEqual(
        await boss.ask('POST', `/api/instance/${id}/${action}`, {}),
        { status: 500, body: { success: false, status: 'error', error } },
        action,
      );
    assert.deepEqual(await boss.ask('POST', `/api/agents/${id}/backups`), { status: 500, body: { error } });
    const failed = await boss.ask('POST', '/api/agents/provision', { name: 'Late' });
    assert.deepEqual([failed.status, failed.body.error], [500, error]);
    made.push(failed.body.agentId);
    const chat = await say(id, 'are you there?');
    assert.deepEqual([chat.status, chat.body.error], [500, error]);
    const socket = new WebSocket((await boss.ask('GET', `/api/agents/${id}`)).body.agent.websocketUrl);
    const [, refused] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    assert.equal(refused.statusCode, 500, 'the socket is refused, the service stays');
    refused.destroy();
    assert.equal((await boss.ask('GET', `/api/agents/${id}/stats`)).body.status, 'mock');
    assert.equal((await askBackend(services, 'GET', '/health')).status, 200);
    const deleted = await boss.ask('DELETE', `/api/agents/${unwanted}`);
    assert.deepEqual(deleted, { status: 200, body: { success: true, deleted: unwanted } });
    assert.equal((await boss.ask('POST', `/api/instance/${idle}/stop`, {})).status, 500);

    await docker.start();
    for (const agent of [id, failed.body.agentId])
      assert.equal((await boss.ask('POST', `/api/instance/${agent}/start`, {})).body.status, 'running');
    await until('it answers again', async () => (await say(id, 'recall harbour')).status === 200);
    assert.match((await say(id, 'recall harbour')).body.reply, /harbour/);
    assert.equal((await say(failed.body.agentId, 'hello')).status, 200);

    const engine = await dockerEngine(docker.host);
    await until('what was deleted meanwhile is cleared away, what was stopped is stopped', async () => {
      const containers = await engine.listContainers({ filters: { label: ['troupe.agent'] } });
      const running = new Set(containers.map(({ Labels }) => Labels['troupe.agent']));
      const { Volumes } = await engine.listVolumes();
      return !running.has(unwanted) && !running.has(idle) && !Volumes.some(({ Name }) => Name.includes(unwanted));
    });
    assert.equal((await boss.ask('GET', `/api/agents/${idle}`)).body.agent.status, 'stopped');
  });

  test('a container that is killed from outside is told of, and started again', async () => {
    const id = await provisioned(boss);
    made.push(id);
    await say(id, 'remember the lighthouse');
    const engine = await dockerEngine(docker.host);
    await engine.getContainer(`troupe-agent-${id}`).kill();
    const status = async () => (await boss.ask('GET', `/api/agents/${id}`)).body.agent;
    await until('the status tells', async () => (await status()).status === 'error');
    assert.equal((await status()).failure, 'The agent’s container is not running');
    assert.equal((await say(id, 'hello')).status, 502);
    assert.equal((await boss.ask('POST', `/api/instance/${id}/start`, {})).body.status, 'running');
    assert.match((await say(id, 'recall lighthouse')).body.reply, /lighthouse/);
    assert.equal((await status()).failure, null);
  });
});
