import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { thisSwarm, type ThisSwarm } from '@troupe/testing/swarm/swarm';

const DEPLOY = path.resolve(import.meta.dirname, '../../deploy');
const FILES = ['stack.yaml', 'stack.agents.yaml'];
const GIVEN = {
  IMAGE: 'troupe.local/platform:1',
  BASE_URL: 'https://troupe.example.org',
  AGENTS_DOMAIN: 'agents.example.org',
  AGENT_IMAGE: 'troupe.local/agent:1',
  DOCKER_GROUP: '998',
  SWARM_VOLUME_DRIVER: 'shared',
};
const MINUTE = 60e9;
const run = promisify(execFile);

interface Listed {
  Spec: {
    Name: string;
    UpdateConfig: object;
    RollbackConfig: object;
    TaskTemplate: {
      ContainerSpec: {
        Image: string;
        Args: string[];
        Env: string[];
        User?: string;
        ReadOnly: boolean;
        CapabilityDrop: string[];
        Healthcheck: { Test: string[]; StartPeriod: number };
        Secrets: { SecretName: string; File: { Name: string; UID: string; Mode: number } }[];
        Mounts: { Type: string; Target: string }[];
      };
      Resources: { Limits: { MemoryBytes: number; Pids: number } };
      Placement: { Constraints?: string[]; Preferences: object[] };
      Networks: { Target: string }[];
    };
  };
}

/** deploy/stack.yaml, as a swarm understands it. The image is not there: what runs is tried in tests/deploy. Run by swarm.test.ts. */
describe('the stack', () => {
  let here: ThisSwarm;
  before(async () => (here = await thisSwarm()));

  const docker = (args: readonly string[], env: Record<string, string> = {}) =>
    run('docker', ['--host', here.host, ...args], { env: { PATH: process.env['PATH'], HOME: '/nowhere', ...env } });
  const deploy = (files: readonly string[], env: Record<string, string>) =>
    docker(['stack', 'deploy', ...files.flatMap((file) => ['-c', path.join(DEPLOY, file)]), 'tried'], env);
  const services = async (): Promise<Map<string, Listed['Spec']>> => {
    const filters = { label: ['com.docker.stack.namespace=tried'] };
    const all = (await here.manager.listServices({ filters })) as unknown as Listed[];
    return new Map(all.map(({ Spec }) => [Spec.Name.replace('tried_', ''), Spec]));
  };

  test('what is not said is asked for by name', async () => {
    for (const name of ['IMAGE', 'BASE_URL', 'AGENTS_DOMAIN', 'AGENT_IMAGE', 'DOCKER_GROUP', 'SWARM_VOLUME_DRIVER']) {
      const { [name as 'IMAGE']: _, ...rest } = GIVEN;
      await assert.rejects(deploy(FILES, rest), (error: Error & { stderr: string }) => {
        assert.match(error.stderr, new RegExp(`required variable ${name} is missing`));
        return true;
      });
    }
  });

  test('a swarm takes it: replicated, watched, rolled with a way back, with secrets that are files', async () => {
    for (const Name of ['troupe-settings', 'troupe-summarizer'])
      await here.manager.createSecret({ Name, Data: Buffer.from('INTERNAL_API_KEY=x\n').toString('base64') });
    // What it does not know it says.
    const { stderr } = await deploy(FILES.slice(0, 1), GIVEN);
    assert.doesNotMatch(stderr, /[Ii]gnoring/);
    const all = await services();
    assert.deepEqual([...all.keys()].toSorted(), ['backend', 'summarizer', 'web']);
    for (const [name, { TaskTemplate, UpdateConfig, RollbackConfig }] of all) {
      const { ContainerSpec, Resources, Placement } = TaskTemplate;
      assert.partialDeepStrictEqual(UpdateConfig, { Order: 'start-first', Parallelism: 1, FailureAction: 'rollback' });
      assert.partialDeepStrictEqual(RollbackConfig, { Order: 'start-first', Parallelism: 1 });
      assert.ok(Resources.Limits.MemoryBytes > 0 && Resources.Limits.Pids > 0, name);
      assert.deepEqual([ContainerSpec.ReadOnly, ContainerSpec.CapabilityDrop], [true, ['ALL']]);
      assert.equal(ContainerSpec.Healthcheck.StartPeriod, 5 * MINUTE);
      assert.deepEqual(ContainerSpec.Args, ['node', 'scripts/start.mjs', name]);
      assert.deepEqual(
        ContainerSpec.Secrets.map(({ SecretName, File }) => [SecretName, File.Name, File.UID, File.Mode]),
        [[name === 'summarizer' ? 'troupe-summarizer' : 'troupe-settings', '/app/.env', '10001', 0o400]],
      );
      assert.ok(ContainerSpec.Env.includes('BACKEND_URL=http://backend:3001'));
      assert.deepEqual(Placement.Preferences, [{ Spread: { SpreadDescriptor: 'node.id' } }]);
      assert.deepEqual(Placement.Constraints ?? [], [], 'it may be anywhere');
    }
  });

  test('with agents, backends alone are beside a manager, and in the agents’ network', async () => {
    await deploy(FILES, GIVEN);
    const all = await services();
    const { TaskTemplate } = all.get('backend')!;
    assert.deepEqual(TaskTemplate.Placement.Constraints, ['node.role == manager']);
    assert.equal(TaskTemplate.ContainerSpec.User, '10001:998');
    assert.deepEqual(TaskTemplate.ContainerSpec.Mounts.map(({ Target }) => Target).toSorted(), [
      '/data',
      '/tmp',
      '/var/run/docker.sock',
    ]);
    for (const line of ['AGENT_DRIVER=swarm', 'SWARM_NETWORK=troupe-agents', 'SWARM_VOLUME_DRIVER=shared'])
      assert.ok(TaskTemplate.ContainerSpec.Env.includes(line), line);
    const networks = (name: string) => all.get(name)!.TaskTemplate.Networks.length;
    assert.deepEqual([networks('backend'), networks('web'), networks('summarizer')], [2, 1, 1]);
    await docker(['stack', 'rm', 'tried']);
    while ((await services()).size > 0) await delay(200);
  });
});
