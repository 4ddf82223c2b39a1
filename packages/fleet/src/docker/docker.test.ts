import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Docker from 'dockerode';
import { rolldown } from 'rolldown';
import { needs } from '../../../../tests/lib/needs.ts';
import { createFleet } from '../fleet.ts';
import type { Driver } from '../driver.ts';
import { conformance, front, newAgent, testGrounds, type Grounds } from '../testing.ts';
import { createDocker } from './docker.ts';
import { dockerEngine } from './engine.ts';

const ENTRY = new URL('../../../../apps/agent/src/main.ts', import.meta.url).pathname;

async function program(): Promise<string> {
  const build = await rolldown({ input: ENTRY, platform: 'node', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return output[0].code;
}

const make = (grounds: Grounds, engine: Docker, image = 'troupe-agent:test'): Driver =>
  createDocker({
    engine,
    registry: grounds.registry,
    log: grounds.runtime.log,
    version: '1.0.0',
    image,
    program,
    node: process.execPath,
    // Nobody listens there: agents in this test think with the sandbox of their own.
    platformUrl: () => undefined,
    sessionSecret: 'secret',
    verify: grounds.verify,
  });

describe('the docker driver', { skip: needs('docker') }, () => {
  let grounds: Grounds;
  let driver: Driver;
  let door: Awaited<ReturnType<typeof front>>;
  let engine: Docker;
  before(async () => {
    engine = await dockerEngine(process.env['DOCKER_HOST']);
    grounds = await testGrounds();
    driver = make(grounds, engine);
    door = await front(driver);
  });
  after(async () => {
    door.close();
    await driver.disconnect();
    await grounds.runtime.close();
  });
  conformance(() => ({ grounds, driver, ask: door.ask }));

  test('an image that does not start gives way to the one before, and the backup stays', async () => {
    const { runtime, registry } = grounds;
    const fleet = createFleet({ ...runtime, registry, driver, version: '1.0.0' });
    const { agent, placement } = await fleet.start(await newAgent(grounds));
    try {
      assert.equal(placement.container?.status, 'running');
      const held = await engine.getContainer(placement.container!.id).inspect();
      assert.equal(held.HostConfig.Memory, 2 * 1024 ** 3);
      const shown = JSON.stringify(held.Config.Env);
      for (const secret of Object.values(runtime.secrets))
        if (typeof secret === 'string') assert.ok(!shown.includes(secret), 'no secret of the platform');
      await assert.rejects(
        fleet.update(agent, 'nothing/there:1'),
        (error: Error & { extra: { backupPath: string } }) => {
          assert.match(error.message, /previous image is running again/);
          assert.ok(error.extra.backupPath.includes(agent.id));
          return true;
        },
      );
      assert.equal((await registry.get(agent.id)).status, 'running');
      assert.equal((await door.ask(agent.id, 'GET', '/ready')).status, 200);
    } finally {
      await fleet.remove(agent);
    }
  });
});

test('without an engine the docker driver says so', async () => {
  const grounds = await testGrounds();
  const driver = make(grounds, new Docker({ socketPath: '/nowhere/docker.sock' }));
  await assert.rejects(driver.start(await newAgent(grounds)), /The container engine is not available/);
  await grounds.runtime.close();
});
