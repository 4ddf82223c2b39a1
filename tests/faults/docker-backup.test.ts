import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dockerEngine } from '@troupe/fleet';
import { good, scriptEnv, SCRIPTS, signIn, started } from '@troupe/testing/backups/scripts';
import { comeBack, removeAgents } from '@troupe/testing/containers/backup';
import { ownDocker } from '@troupe/testing/containers/docker';
import { needs } from '@troupe/testing/machine/needs';
import { ownSettings } from '@troupe/testing/processes/program';

const skip = needs('an own container engine');

test('a backup holds what agents in containers have, and a restore puts it back', { skip }, (t) =>
  comeBack(t, 'docker'),
);

test('a backup that is killed while it holds an agent still: the agent goes on', { skip }, async (t) => {
  const own = await ownSettings();
  const docker = await ownDocker();
  t.after(async () => {
    await removeAgents(docker.host);
    await docker.close();
  });
  t.after(own.remove);
  const env = { ...own.env, AGENT_DRIVER: 'docker', DOCKER_HOST: docker.host, AGENT_HOST_NETWORK: 'true' };
  const platform = await started(t, env);
  const ask = await signIn(platform, platform.password);
  const { agent } = await good(ask('POST', '/api/agents/provision', { name: 'Ada' }));
  const engine = await dockerEngine(docker.host);
  const isHeld = async () => (await engine.listContainers({ filters: { status: ['paused'] } })).length > 0;

  for (let held = false; !held; held = await isHeld()) {
    const args = [path.join(SCRIPTS, 'backup.ts'), path.join(own.dataDir, 'never.tar.gz')];
    const backup = spawn(process.execPath, args, { env: { ...scriptEnv(), ...env }, stdio: 'ignore' });
    const ended = once(backup, 'exit');
    while (backup.exitCode === null && !(await isHeld()));
    backup.kill('SIGKILL');
    await ended;
  }
  while (await isHeld()) await delay(200);
  const { reply } = await good(ask('POST', '/api/chat', { agentId: agent.id, message: 'remember the tide' }));
  assert.notEqual(reply, '');
  await platform.stop();
});
