import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { reachContainerData } from '@troupe/fleet';
import { silentLog } from '@troupe/kernel';
import { thisCluster, type ThisCluster } from '@troupe/testing/kubernetes/cluster';
import { addImages, IMAGE } from '@troupe/testing/kubernetes/images';
import { askBackend, person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

const NAMESPACE = 'platform';
/** The machine, as pods see it. */
const HOST = '10.90.0.1';
const AWAY = 'The Kubernetes API server does not answer at the moment. Try again in a few seconds.';
/** What Kubernetes, told so by the driver, and the driver take to find that a node is gone, and to start elsewhere. */
const NODE_GONE_MS = 90_000;

/** So long a connection to an agent is kept; a request on one of them waits for as long as the system does. */
const KEPT_MS = 6_000;
/** A kubelet waits ten seconds, then twenty, before it starts a program again. */
const AGAIN_MS = 60_000;

interface Pod {
  metadata: { uid: string };
  spec: { nodeName: string };
}

/** Agents in a cluster of two nodes, from the front door. Run by kubernetes.test.ts. */
describe('agents in a cluster', () => {
  let here: ThisCluster;
  let services: Services;
  let boss: Person;
  before(async () => {
    here = thisCluster();
    await here.kubectl(['create', 'namespace', NAMESPACE]);
    await addImages(here);
    services = await startServices({
      HOST,
      AGENT_DRIVER: 'kubernetes',
      AGENT_IMAGE: IMAGE,
      KUBECONFIG: here.kubeconfig,
      KUBERNETES_NAMESPACE: NAMESPACE,
    });
    boss = await person(services, { plan: 'network' });
  });
  after(() => services?.stop());

  const say = (agentId: string, message: string) => boss.ask('POST', '/api/chat', { agentId, message });
  const reply = async (agentId: string, message: string): Promise<string> => {
    const { status, body } = await say(agentId, message);
    assert.equal(status, 200, JSON.stringify(body));
    return body.reply;
  };
  const left = (): Promise<{ items: object[] }> =>
    here.json('--namespace', NAMESPACE, 'get', 'statefulsets,persistentvolumeclaims,pods', '-l', 'troupe.agent');
  const podOf = (agentId: string): Promise<Pod> =>
    here.json<Pod>('--namespace', NAMESPACE, 'get', 'pod', `troupe-agent-${agentId}-0`);
  async function until(what: string, most: number, done: () => Promise<boolean>): Promise<number> {
    const began = Date.now();
    while (!(await done())) {
      assert.ok(Date.now() - began < most, what);
      await delay(500);
    }
    return Date.now() - began;
  }

  test('one is made, talks, is backed up, stopped, put back and deleted', async () => {
    const id = await provisioned(boss);
    await reply(id, 'write plan.txt: first');
    const made = await boss.ask('POST', `/api/agents/${id}/backups`);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await reply(id, 'write plan.txt: second');
    assert.equal((await boss.ask('POST', `/api/instance/${id}/stop`, {})).body.status, 'stopped');
    assert.equal((await say(id, 'hello')).status, 502);
    assert.equal((await boss.ask('POST', `/api/instance/${id}/start`, {})).status, 200);
    assert.match(await reply(id, 'read plan.txt'), /second/);
    const restored = await boss.ask('POST', `/api/agents/${id}/backups/${made.body.backup.id}/restore`);
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    assert.match(await reply(id, 'read plan.txt'), /first/);
    assert.equal((await boss.ask('GET', `/api/agents/${id}/logs`)).status, 200);
    assert.equal((await boss.ask('GET', `/api/agents/${id}/stats`)).status, 200);
    assert.equal((await boss.ask('DELETE', `/api/agents/${id}`)).status, 200);
    await until('nothing is left', 60_000, async () => (await left()).items.length === 0);
  });

  test('the data of all of them is copied and put back for a backup of the whole platform', async () => {
    const { runtime } = services;
    const id = await provisioned(boss);
    await reply(id, 'write plan.txt: kept');
    await boss.ask('POST', `/api/instance/${id}/stop`, {});
    const data = await reachContainerData(runtime.settings, IMAGE, silentLog);
    const file = path.join(here.folder, 'agent.tar.gz');
    assert.equal(await data.copy(runtime.db, id, file), true);
    await data.remove(id);
    await until('its claim is gone', 60_000, async () => !(await data.has(id)));
    assert.equal(await data.copy(runtime.db, id, file), false);
    await data.put(id, file);
    assert.equal((await boss.ask('POST', `/api/instance/${id}/start`, {})).status, 200);
    assert.match(await reply(id, 'read plan.txt'), /kept/);
    await boss.ask('DELETE', `/api/agents/${id}`);
  });

  test('while the API server is away agents go on, what needs it is refused with 503, and all goes on when it is back', async () => {
    const id = await provisioned(boss);
    const unwanted = await provisioned(boss);
    await reply(id, 'remember the harbour');
    here.kill('kube-apiserver');
    assert.match(await reply(id, 'recall harbour'), /harbour/);
    for (const action of ['start', 'restart', 'stop', 'repair', 'update'])
      assert.deepEqual(
        await boss.ask('POST', `/api/instance/${id}/${action}`, {}),
        { status: 503, body: { success: false, status: 'error', error: AWAY } },
        action,
      );
    assert.deepEqual(await boss.ask('POST', `/api/agents/${id}/backups`), { status: 503, body: { error: AWAY } });
    assert.equal((await askBackend(services, 'GET', '/health')).status, 200);
    assert.equal((await boss.ask('DELETE', `/api/agents/${unwanted}`)).status, 200);
    await here.repair();
    await until('it can be started', 30_000, async () => {
      const { body } = await boss.ask('POST', `/api/instance/${id}/start`, {});
      return body.status === 'running';
    });
    assert.match(await reply(id, 'recall harbour'), /harbour/);
    await until(
      'what was deleted meanwhile is gone',
      60_000,
      async () => !JSON.stringify(await left()).includes(unwanted),
    );
    await boss.ask('DELETE', `/api/agents/${id}`);
  });

  test('a node that is killed with -9 is told of, and its agents answer from the other one with their data', async (t) => {
    const id = await provisioned(boss);
    await reply(id, 'remember the lighthouse');
    const node = async (): Promise<string> => (await podOf(id)).spec.nodeName;
    const status = async () => (await boss.ask('GET', `/api/agents/${id}`)).body.agent.status;
    const first = await node();
    here.kill(first);
    const began = Date.now();
    await until('the status tells', NODE_GONE_MS, async () => (await status()) === 'error');
    await until(
      'it answers again',
      NODE_GONE_MS - (Date.now() - began),
      async () => (await say(id, 'hello')).status === 200,
    );
    t.diagnostic(`answers again after ${Math.round((Date.now() - began) / 1000)} s`);
    assert.match(await reply(id, 'recall lighthouse'), /lighthouse/);
    assert.notEqual(await node(), first);
    await until('the status tells that, too', 30_000, async () => (await status()) === 'running');
    await here.repair();
    await boss.ask('DELETE', `/api/agents/${id}`);
  });

  test('a node that is cut off runs on: its agent answers from the other one, and what was left behind stays out of the data', async (t) => {
    const id = await provisioned(boss);
    await reply(id, 'remember the anchor');
    await reply(id, 'write plan.txt: before');
    const old = await podOf(id);
    const join = await here.cutOff(old.spec.nodeName);
    try {
      const began = Date.now();
      await delay(KEPT_MS);
      await until('it answers again', NODE_GONE_MS, async () => (await say(id, 'hello')).status === 200);
      t.diagnostic(`answers from beside a node that is cut off after ${Math.round((Date.now() - began) / 1000)} s`);
      const now = await podOf(id);
      assert.notEqual(now.spec.nodeName, old.spec.nodeName);
      assert.match(await reply(id, 'recall anchor'), /anchor/);
      assert.match(await reply(id, 'read plan.txt'), /before/);
      // Its kubelet knows of nothing, and starts the program again.
      const refused = () => saidBy(here, old).includes('Another program was started on the same data after this one.');
      await until('the one that was left behind is refused', AGAIN_MS, async () => refused());
      assert.ok(holderOf(here, now.metadata.uid), 'the new one has the data');
      await reply(id, 'write plan.txt: after');
      assert.match(await reply(id, 'read plan.txt'), /after/);
    } finally {
      await join();
    }
    await here.kubectl(['wait', '--for', 'condition=Ready', '--timeout', '120s', `node/${old.spec.nodeName}`]);
    assert.match(await reply(id, 'recall anchor'), /anchor/);
    await boss.ask('DELETE', `/api/agents/${id}`);
  });
});

/** All that the programs of a pod have said, as its node keeps it. */
function saidBy({ folder }: ThisCluster, { metadata, spec }: Pod): string {
  const logs = path.join(folder, 'nodes', spec.nodeName, 'var/log/pods');
  const own = readdirSync(logs).find((name) => name.endsWith(metadata.uid));
  if (own === undefined) return '';
  const files = readdirSync(path.join(logs, own, 'agent'));
  return files.map((name) => readFileSync(path.join(logs, own, 'agent', name), 'utf8')).join('');
}

/** Whether the pod is who beats in one of the volumes. */
const holderOf = ({ folder }: ThisCluster, uid: string): boolean =>
  readdirSync(path.join(folder, 'volumes')).some((volume) => {
    const file = path.join(folder, 'volumes', volume, 'agent/.holder');
    return existsSync(file) && readFileSync(file, 'utf8').startsWith(`${uid} `);
  });
