import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, type Log } from '@troupe/kernel';
import { createDeployments, type DeploymentDeps } from './service.ts';

type Started = Awaited<ReturnType<DeploymentDeps['fleet']['start']>>;

/** One agent whose start ends when the test says so. */
function setUp() {
  const row = { id: 'a', user_id: 'u', status: 'provisioning', runtime_version: null };
  const { promise, resolve, reject } = Promise.withResolvers<Started>();
  const warned: string[] = [];
  const deployments = createDeployments({
    log: { warn: (_: object, text: string) => void warned.push(text) } as unknown as Log,
    patienceMs: 20,
    agents: { place: () => ({}), planOf: () => ({ plan: 'solo' }) },
    roster: { system: { find: async () => row, get: async () => row } },
    fleet: { start: () => promise },
    version: '1',
    defaultModel: 'm',
    refuseWhenDisabled: () => {},
  } as unknown as DeploymentDeps);
  const deploy = () => deployments.deploy({ userId: 'u' } as never, { agentId: 'a', config: {} } as never);
  return { deploy, row, warned, resolve, reject };
}

test('whoever deploys is answered while a slow engine still starts the agent, and its failure is told', async () => {
  const { deploy, warned, reject } = setUp();
  const { created, body } = await deploy();
  assert.deepEqual([created, body.status, body.agentId], [true, 'provisioning', 'a']);
  reject(new AppError(502, 'no image'));
  await new Promise(setImmediate);
  assert.deepEqual(warned, ['an agent did not start after its maker was answered']);
});

test('a start that ends in time, or fails in time, is the answer', async () => {
  const quick = setUp();
  quick.resolve({ agent: { ...quick.row, status: 'running' }, was: 'running', placement: {} } as unknown as Started);
  const { created, body } = await quick.deploy();
  assert.deepEqual([created, body.status], [false, 'running']);
  const failing = setUp();
  failing.reject(new AppError(502, 'no image'));
  await assert.rejects(failing.deploy(), /no image/);
});
