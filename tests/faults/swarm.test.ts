import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dockerEngine } from '@troupe/fleet';
import { ownDocker, type OwnDocker } from '@troupe/testing/containers/docker';
import { needs } from '@troupe/testing/machine/needs';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Agents as services of a swarm, from the front door. */
describe('agents in a swarm', { skip: needs('an own container engine') }, () => {
  let docker: OwnDocker;
  let services: Services;
  let boss: Person;
  before(async () => {
    docker = await ownDocker({ swarm: true });
    services = await startServices({ AGENT_DRIVER: 'swarm', DOCKER_HOST: docker.host, AGENT_HOST_NETWORK: 'true' });
    boss = await person(services, { plan: 'network' });
  });
  after(async () => {
    await services.stop();
    await docker.close();
  });

  test('one is made, talks, is backed up, stopped, put back and deleted', async () => {
    const engine = await dockerEngine(docker.host);
    const id = await provisioned(boss);
    const say = async (message: string): Promise<string> =>
      (await boss.ask('POST', '/api/chat', { agentId: id, message })).body.reply;
    const [service] = await engine.listServices();
    assert.equal(service?.Spec?.Labels?.['troupe.agent'], id);
    await say('write plan.txt: first');
    const made = await boss.ask('POST', `/api/agents/${id}/backups`);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await say('write plan.txt: second');
    assert.equal((await boss.ask('POST', `/api/instance/${id}/stop`, {})).body.status, 'stopped');
    assert.deepEqual(await engine.listServices(), []);
    assert.equal((await boss.ask('POST', `/api/instance/${id}/start`, {})).status, 200);
    assert.match(await say('read plan.txt'), /second/);
    const restored = await boss.ask('POST', `/api/agents/${id}/backups/${made.body.backup.id}/restore`);
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    assert.match(await say('read plan.txt'), /first/);
    const stats = await boss.ask('GET', `/api/agents/${id}/stats`);
    assert.ok(stats.body.stats.memory > 1024 ** 2, JSON.stringify(stats.body));
    assert.equal((await boss.ask('DELETE', `/api/agents/${id}`)).status, 200);
    assert.deepEqual(await engine.listServices(), []);
    assert.equal((await engine.listVolumes()).Volumes.length, 0);
  });
});
