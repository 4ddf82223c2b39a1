import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { reachContainerData } from '@troupe/fleet';
import { silentLog } from '@troupe/kernel';
import { person, provisioned, type Person, type Reply } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';
import { IMAGE, NETWORK, thisSwarm, VOLUMES, type ThisSwarm } from '@troupe/testing/swarm/swarm';

/** What a swarm takes to find that a node is gone, by its defaults, and what an agent takes to start there. */
const NODE_GONE_MS = 90_000;
const ASKED_MS = 8000;
const MOST_AGENTS = 4;

/** Agents in a swarm of two nodes, from the front door. Run by swarm.test.ts. */
describe('agents in a swarm of two nodes', () => {
  let here: ThisSwarm;
  let services: Services;
  let boss: Person;
  const made: string[] = [];
  before(async () => {
    here = await thisSwarm();
    services = await startServices({
      HOST: here.address,
      AGENT_DRIVER: 'swarm',
      AGENT_IMAGE: IMAGE,
      DOCKER_HOST: here.host,
      SWARM_NETWORK: NETWORK,
      SWARM_VOLUME_DRIVER: VOLUMES,
    });
    boss = await person(services, { plan: 'network' });
  });
  after(async () => {
    for (const id of made) await boss.ask('DELETE', `/api/agents/${id}`);
    await services?.stop();
  });

  /** Nobody waits for a machine that says nothing. */
  const say = (agentId: string, message: string): Promise<Reply> =>
    Promise.race([
      boss.ask('POST', '/api/chat', { agentId, message }),
      delay(ASKED_MS, { status: 0, body: 'no answer' }, { ref: false }),
    ]);
  const reply = async (agentId: string, message: string): Promise<string> => {
    const { status, body } = await say(agentId, message);
    assert.equal(status, 200, JSON.stringify(body));
    return body.reply;
  };
  const nodeOf = (id: string) => here.nodeOf(`troupe-agent-${id}`);
  async function until(what: string, most: number, done: () => Promise<boolean>): Promise<void> {
    for (const began = Date.now(); !(await done()); await delay(250)) assert.ok(Date.now() - began < most, what);
  }
  /** One that runs on the node that manages nothing. */
  async function far(): Promise<string> {
    for (let tries = 0; tries < MOST_AGENTS; tries += 1) {
      const id = await provisioned(boss);
      made.push(id);
      if ((await nodeOf(id)) === 'node-2') return id;
    }
    throw new Error('every agent is on one node');
  }

  test('one on another node is backed up, stopped, put back, copied for the whole platform, and deleted', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'troupe-swarm-data-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const id = await far();
    await reply(id, 'write plan.txt: first');
    const backup = await boss.ask('POST', `/api/agents/${id}/backups`);
    assert.equal(backup.status, 201, JSON.stringify(backup.body));
    await reply(id, 'write plan.txt: second');
    assert.equal((await boss.ask('POST', `/api/instance/${id}/stop`, {})).body.status, 'stopped');
    assert.equal((await say(id, 'hello')).status, 502);

    const data = await reachContainerData(services.runtime.settings, IMAGE, silentLog);
    const file = path.join(folder, 'agent.tar.gz');
    assert.equal(await data.copy(services.runtime.db, id, file), true);
    await data.remove(id);
    assert.deepEqual([await data.has(id), await data.copy(services.runtime.db, id, file)], [false, false]);
    await data.put(id, file);
    assert.equal((await boss.ask('POST', `/api/instance/${id}/start`, {})).status, 200);
    assert.match(await reply(id, 'read plan.txt'), /second/);

    const restored = await boss.ask('POST', `/api/agents/${id}/backups/${backup.body.backup.id}/restore`);
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    assert.match(await reply(id, 'read plan.txt'), /first/);
    assert.equal((await boss.ask('GET', `/api/agents/${id}/stats`)).status, 200);
    assert.equal((await boss.ask('DELETE', `/api/agents/${id}`)).status, 200);
    await until('its data is gone', 60_000, async () => !(await data.has(id)));
  });

  test('a node is cut off: its agent answers from the other one with all that was acknowledged, and ends where it was', async (t) => {
    const id = await far();
    await reply(id, 'remember the lighthouse');
    const acknowledged: number[] = [];
    for (let number = 0; number < 5; number += 1) {
      await reply(id, `write notes/${number}.txt: note ${number}`);
      acknowledged.push(number);
    }
    const before = (await boss.ask('GET', `/api/agents/${id}/messages`)).body.total;
    await here.cut('node-2');
    const began = Date.now();
    await until('it answers again', NODE_GONE_MS, async () => (await say(id, 'hello')).status === 200);
    t.diagnostic(`answers again after ${Math.round((Date.now() - began) / 1000)} s`);
    assert.equal(await nodeOf(id), 'node-1');
    assert.match(await reply(id, 'recall lighthouse'), /lighthouse/);
    for (const number of acknowledged)
      assert.match(await reply(id, `read notes/${number}.txt`), new RegExp(`note ${number}`));
    assert.ok((await boss.ask('GET', `/api/agents/${id}/messages`)).body.total > before);

    // Its engine lives, and knows of nothing: it is the program itself that has gone.
    const ended = async () => {
      const filters = { label: [`troupe.agent=${id}`] };
      const found = await here.worker.listContainers({ all: true, filters });
      return found.length > 0 && found.every(({ State }) => State === 'exited');
    };
    await until('the old one has ended', 15_000, ended);

    await here.mend('node-2');
    assert.match(await reply(id, 'recall lighthouse'), /lighthouse/);
    assert.equal(await nodeOf(id), 'node-1');
    const status = async () => (await boss.ask('GET', `/api/agents/${id}`)).body.agent.status;
    await until('the status tells', 30_000, async () => (await status()) === 'running');
    const another = await far();
    await reply(another, 'write plan.txt: on a node that came back');
  });
});
