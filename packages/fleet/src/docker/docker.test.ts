import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Docker from 'dockerode';
import { needs } from '@troupe/testing/machine/needs';
import { createFleet } from '../fleet.ts';
import type { Driver } from '../driver.ts';
import { givesWay, hasNoSecrets } from '../outside-testing.ts';
import { conformance, front, newAgent, testGrounds, type Door, type Grounds } from '../testing.ts';
import type { ContainerDeps } from './containers.ts';
import { createDocker } from './docker.ts';
import { dockerEngine } from './engine.ts';
import { addSickImage, containerDeps, IMAGE, SICK } from './testing.ts';

const make = (grounds: Grounds, engine: Docker, more: Partial<ContainerDeps> = {}): Driver =>
  createDocker({ ...containerDeps(grounds, engine), ...more });

describe('the docker driver', { skip: needs('docker') }, () => {
  let grounds: Grounds;
  let driver: Driver;
  let door: Door;
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

  const fleetOf = (used: Driver) => {
    const { runtime, roster } = grounds;
    return createFleet({ ...runtime, roster, driver: used, version: '1.0.0' });
  };

  test('an image that starts and never becomes healthy gives way to the one before, with all data', async () => {
    await addSickImage(engine);
    const fleet = fleetOf(make(grounds, engine, { healthMs: 10_000 }));
    try {
      await givesWay({ grounds, door, fleet }, { image: IMAGE, sick: SICK }, async (kept) => {
        const updated = await fleet.update(await kept());
        assert.deepEqual([updated.image, updated.previousImage], [IMAGE, IMAGE]);
      });
    } finally {
      await engine.getImage(SICK).remove({ force: true });
    }
  });

  test('a container that was killed from outside is told of, and start and repair bring it back with its data', async () => {
    const { roster } = grounds;
    const fleet = fleetOf(driver);
    const { agent, placement } = await fleet.start(await newAgent(grounds));
    const token = await roster.token(agent);
    try {
      await door.ask(agent.id, 'PUT', '/memory', token, { key: 'word', content: 'kept' });
      const told = async () => {
        await fleet.recover();
        const { status, failure } = await roster.get(agent.id);
        return [status, failure];
      };
      assert.deepEqual(await told(), ['running', null]);
      for (const [kill, bringBack] of [
        [() => engine.getContainer(placement.container!.id).kill(), fleet.start],
        [() => engine.getContainer(placement.container!.name).remove({ force: true }), fleet.repair],
      ] as const) {
        await kill();
        assert.deepEqual(await told(), ['error', 'The agent’s container is not running']);
        assert.deepEqual(await door.ask(agent.id, 'GET', '/ready'), {
          status: 502,
          body: { error: 'Agent is not running' },
        });
        await bringBack(await roster.get(agent.id));
        assert.deepEqual(await told(), ['running', null]);
        assert.match(JSON.stringify((await door.ask(agent.id, 'GET', '/memory', token)).body), /kept/);
      }
      await engine.getContainer(placement.container!.name).kill();
      assert.equal((await told())[0], 'error');
      await engine.getContainer(placement.container!.name).start();
      assert.deepEqual(await told(), ['running', null], 'somebody else has started it again');
    } finally {
      await fleet.remove(agent);
    }
  });

  test('an image that is not there gives way to the one before, and the backup stays', async () => {
    const { runtime, roster } = grounds;
    const fleet = createFleet({ ...runtime, roster, driver, version: '1.0.0' });
    const { agent, placement } = await fleet.start(await newAgent(grounds));
    try {
      assert.equal(placement.container?.status, 'running');
      const held = await engine.getContainer(placement.container!.id).inspect();
      assert.equal(held.HostConfig.Memory, 2 * 1024 ** 3);
      hasNoSecrets(grounds, held);
      await assert.rejects(
        fleet.update(agent, 'nothing/there:1'),
        (error: Error & { extra: { backupPath: string } }) => {
          assert.match(error.message, /previous image is running again/);
          assert.ok(error.extra.backupPath.includes(agent.id));
          return true;
        },
      );
      assert.equal((await roster.get(agent.id)).status, 'running');
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
