import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { AppError } from '@troupe/kernel';
import { ownDocker, type OwnDocker } from '@troupe/testing/containers/docker';
import { needs } from '@troupe/testing/machine/needs';
import type { Driver } from '../driver.ts';
import { createFleet } from '../fleet.ts';
import { givesWay, hasNoSecrets } from '../outside-testing.ts';
import { conformance, front, newAgent, testGrounds, type Door, type Grounds } from '../testing.ts';
import { dockerEngine } from './engine.ts';
import { createSwarm } from './swarm.ts';
import { addSickImage, containerDeps, IMAGE, runsWithLongId, SICK } from './testing.ts';

describe('the swarm driver', { skip: needs('an own container engine') }, () => {
  let docker: OwnDocker;
  let engine: Docker;
  let grounds: Grounds;
  let driver: Driver;
  let door: Door;
  before(async () => {
    docker = await ownDocker({ swarm: true });
    engine = await dockerEngine(docker.host);
    grounds = await testGrounds();
    driver = createSwarm(containerDeps(grounds, engine));
    door = await front(driver);
  });
  after(async () => {
    door.close();
    await driver.disconnect();
    await grounds.runtime.close();
    await docker.close();
  });
  conformance(() => ({ grounds, driver, ask: door.ask }));

  const fleetOf = (used: Driver) =>
    createFleet({ ...grounds.runtime, roster: grounds.roster, driver: used, version: '1.0.0' });
  const left = async () => [
    (await engine.listServices()).length,
    (await engine.listContainers({ all: true })).length,
    (await engine.listVolumes()).Volumes.length,
  ];

  test('nothing is left of one that is removed', async () => {
    assert.deepEqual(await left(), [0, 0, 0]);
  });

  test('a service has the limits of the plan, no secret of the platform, and ends with a stop', async () => {
    const fleet = fleetOf(driver);
    const { agent, placement } = await fleet.start(await newAgent(grounds));
    try {
      assert.equal(placement.container?.status, 'running');
      const held = await engine.getContainer(placement.container!.id).inspect();
      assert.deepEqual([held.HostConfig.Memory, held.HostConfig.PidsLimit], [2 * 1024 ** 3, 256]);
      assert.deepEqual([held.HostConfig.ReadonlyRootfs, held.HostConfig.CapDrop], [true, ['ALL']]);
      hasNoSecrets(grounds, [held, await engine.listServices()]);
      await fleet.stop(agent);
      assert.deepEqual(await left(), [0, 0, 1], 'only its data is left');
      assert.equal((await door.ask(agent.id, 'GET', '/ready')).status, 502);
    } finally {
      await fleet.remove(agent);
    }
    assert.deepEqual(await left(), [0, 0, 0]);
  });

  test('the swarm starts a container again that was killed; start brings back what was scaled down', async () => {
    const fleet = fleetOf(driver);
    const { agent, placement } = await fleet.start(await newAgent(grounds));
    const token = await grounds.roster.token(agent);
    const serves = async () => (await door.ask(agent.id, 'GET', '/memory', token)).status === 200;
    try {
      await door.ask(agent.id, 'PUT', '/memory', token, { key: 'word', content: 'kept' });
      await engine.getContainer(placement.container!.id).kill();
      while (!(await serves())) await delay(100);
      assert.match(JSON.stringify((await door.ask(agent.id, 'GET', '/memory', token)).body), /kept/);

      const [found] = await engine.listServices();
      const { Spec, Version } = (await engine.getService(found!.ID).inspect()) as Docker.Service;
      await engine.getService(found!.ID).update({
        ...Spec,
        version: Version!.Index,
        Mode: { Replicated: { Replicas: 0 } },
      });
      while ((await driver.alive?.())?.has(agent.id)) await delay(100);
      await fleet.recover();
      const row = await grounds.roster.get(agent.id);
      assert.deepEqual([row.status, row.failure], ['error', 'The agent’s container is not running']);
      await fleet.start(row);
      assert.match(JSON.stringify((await door.ask(agent.id, 'GET', '/memory', token)).body), /kept/);
    } finally {
      await fleet.remove(agent);
    }
  });

  test('an image that never becomes healthy gives way to the one before, with all data', async () => {
    await addSickImage(engine);
    const fleet = fleetOf(createSwarm({ ...containerDeps(grounds, engine), healthMs: 10_000 }));
    await givesWay({ grounds, door, fleet }, { image: IMAGE, sick: SICK });
  });

  test('an id that is too long for the name of a service runs all the same', () =>
    runsWithLongId(grounds, driver, door));
});

test('an engine that manages no swarm is told of', { skip: needs('an own container engine') }, async () => {
  const docker = await ownDocker();
  const grounds = await testGrounds();
  const driver = createSwarm(containerDeps(grounds, await dockerEngine(docker.host)));
  try {
    await assert.rejects(driver.start(await newAgent(grounds)), (error: AppError) => {
      assert.equal(error.status, 500);
      assert.match(
        error.message,
        /^The container engine refused: This node is not a swarm manager\. Use "docker swarm init"/,
      );
      return true;
    });
  } finally {
    await grounds.runtime.close();
    await docker.close();
  }
});
