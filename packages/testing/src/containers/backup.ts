import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dockerEngine } from '@troupe/fleet';
import { good, script, signIn, started, type Ask, type Env } from '../backups/scripts.ts';
import { ownDocker } from './docker.ts';
import { ownSettings } from '../processes/program.ts';

const PLAN = 'first draft';

/** Agents of that driver are backed up, everything is lost, and they have their data again on an engine that was empty. */
export async function comeBack(t: TestContext, driver: 'docker' | 'swarm'): Promise<void> {
  const own = await ownSettings();
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'troupe-backup-'));
  const engines = [await ownDocker({ swarm: driver === 'swarm' }), await ownDocker({ swarm: driver === 'swarm' })];
  t.after(own.remove);
  t.after(() => rm(elsewhere, { recursive: true, force: true }));
  // agents end with the platform's clean-up of them, not with the platform
  const [old, empty] = engines.map(({ host }) => ({
    ...own.env,
    AGENT_DRIVER: driver,
    DOCKER_HOST: host,
    AGENT_HOST_NETWORK: 'true',
  }));
  t.after(async () => {
    for (const engine of engines) {
      await removeAgents(engine.host);
      await engine.close();
    }
  });
  const file = path.join(elsewhere, 'troupe.tar.gz');
  const refused = async (name: 'backup' | 'restore', env: Env, why: RegExp): Promise<void> => {
    const { code, said } = await script(name, file, env);
    assert.equal(code, 1, said);
    assert.match(said, why);
  };

  const first = await started(t, old!);
  const ask = await signIn(first, first.password);
  const say = async (to: Ask, agentId: string, message: string): Promise<string> =>
    (await good(to('POST', '/api/chat', { agentId, message }))).reply;
  const provision = async (name: string): Promise<string> => {
    const { id } = (await good(ask('POST', '/api/agents/provision', { name }))).agent;
    // A busy engine takes longer than whoever asks waits.
    while ((await good(ask('GET', `/api/agents/${id}`))).agent.status === 'provisioning') await delay(200);
    return id;
  };
  const running = await provision('Ada');
  const stopped = await provision('Ben');
  for (const id of [running, stopped]) await say(ask, id, `write plan.md: ${PLAN} of ${id}`);
  await say(ask, running, 'remember the show starts at eight');
  await good(ask('POST', `/api/instance/${stopped}/stop`, {}));

  await refused('backup', { ...old!, DOCKER_HOST: '/nowhere/docker.sock' }, AWAY);
  await refused('backup', empty!, new RegExp(`The container engine has no data of ${running}, which should run`));
  assert.deepEqual(await readdir(elsewhere), [], 'what is not whole is no backup');
  const backedUp = await script('backup', file, old!);
  assert.equal(backedUp.code, 0, backedUp.said);
  assert.match(backedUp.said, /and the data of 2 agents in containers\.\n$/);
  assert.match(await say(ask, running, 'read plan.md'), new RegExp(PLAN), 'it goes on');
  await first.stop();
  await rm(own.dataDir, { recursive: true });

  await refused('restore', old!, new RegExp(`already has data of (${running}|${stopped})`));
  await refused('restore', own.env, /set AGENT_DRIVER to docker or swarm/);
  await refused('restore', { ...old!, DOCKER_HOST: '/nowhere/docker.sock' }, /nothing was restored/);
  const restored = await script('restore', file, empty!);
  assert.equal(restored.code, 0, restored.said);

  const second = await started(t, empty!);
  const askAgain = await signIn(second, first.password);
  const status = async (id: string): Promise<string> => (await good(askAgain('GET', `/api/agents/${id}`))).agent.status;
  while ((await askAgain('POST', '/api/chat', { agentId: running, message: 'hello' })).status !== 200) await delay(200);
  assert.deepEqual([await status(running), await status(stopped)], ['running', 'stopped']);
  await good(askAgain('POST', `/api/instance/${stopped}/start`, {}));
  for (const id of [running, stopped])
    assert.match(await say(askAgain, id, 'read plan.md'), new RegExp(`${PLAN} of ${id}`));
  assert.match(await say(askAgain, running, 'recall show'), /eight/);
  await second.stop();
}

const AWAY =
  /^The container engine is not available: nothing was backed up, because agents in containers have their data there\./;

/** An engine that ends leaves what runs in it. */
export async function removeAgents(host: string): Promise<void> {
  const engine = await dockerEngine(host);
  const services = await engine.listServices().catch(() => []);
  for (const { ID } of services) await engine.getService(ID!).remove();
  for (const { Id } of await engine.listContainers({ all: true }))
    await engine.getContainer(Id).remove({ force: true });
}
