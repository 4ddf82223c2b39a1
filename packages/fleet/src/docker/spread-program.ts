import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Docker from 'dockerode';
import { IMAGE, NETWORK, SICK, thisSwarm, VOLUMES, type ThisSwarm } from '@troupe/testing/swarm/swarm';
import type { Driver } from '../driver.ts';
import { createFleet } from '../fleet.ts';
import { givesWay, hasNoSecrets } from '../outside-testing.ts';
import { conformance, front, newAgent, testGrounds, type Door, type Grounds } from '../testing.ts';
import { serviceOf } from './service-spec.ts';
import { createSwarm, type SwarmDeps } from './swarm.ts';
import { containerDeps, runsWithLongId } from './testing.ts';

/** Run by tests/swarm, in the network of a swarm of two nodes. */

let here: ThisSwarm;
let grounds: Grounds;
let driver: Driver;
let door: Door;
const make = (engine: Docker, more: Partial<SwarmDeps> = {}): Driver =>
  createSwarm({
    ...containerDeps(grounds, engine),
    image: IMAGE,
    spread: { network: NETWORK, driver: VOLUMES, driverOptions: { class: 'a=b,c' } },
    ...more,
  });
before(async () => {
  here = await thisSwarm();
  grounds = await testGrounds();
  driver = make(here.manager);
  door = await front(driver);
});
after(async () => {
  door?.close();
  await driver?.disconnect();
  await grounds?.runtime.close();
});
conformance(() => ({ grounds, driver, ask: door.ask }));

const fleetOf = (used: Driver) =>
  createFleet({ ...grounds.runtime, roster: grounds.roster, driver: used, version: '1.0.0' });
const left = async () => [
  (await here.manager.listServices()).length,
  (await here.manager.listVolumes({ filters: { name: ['troupe'] } })).Volumes.length,
];

test('nothing is left of one that is removed', async () => {
  assert.deepEqual(await left(), [0, 0]);
});

test('an agent has the limits of its plan, no right and no secret of the platform; a stop leaves only its data', async () => {
  const fleet = fleetOf(driver);
  const { agent } = await fleet.start(await newAgent(grounds));
  try {
    const [service] = await here.manager.listServices();
    const { Resources, ContainerSpec, Placement } = service!.Spec!.TaskTemplate as unknown as {
      Resources: { Limits: object };
      ContainerSpec: { ReadOnly: boolean; CapabilityDrop: string[]; User: string };
      Placement: { Constraints?: string[] };
    };
    assert.deepEqual(Resources.Limits, { NanoCPUs: 1e9, MemoryBytes: 2 * 1024 ** 3, Pids: 256 });
    assert.deepEqual(
      [ContainerSpec.ReadOnly, ContainerSpec.CapabilityDrop, ContainerSpec.User],
      [true, ['ALL'], '1000:1000'],
    );
    assert.deepEqual(Placement.Constraints ?? [], [], 'it may be anywhere');
    hasNoSecrets(grounds, await here.manager.listServices());
    const { Volumes } = await here.manager.listVolumes({ filters: { name: [agent.id] } });
    const volume = (await here.manager.getVolume(Volumes[0]!.Name).inspect()) as unknown as Record<string, unknown>;
    assert.deepEqual([volume['Driver'], volume['Status']], [VOLUMES, { class: 'a=b,c' }]);
    await fleet.stop(agent);
    assert.deepEqual(await left(), [0, 1], 'only its data is left');
    assert.equal((await door.ask(agent.id, 'GET', '/ready')).status, 502);
  } finally {
    await fleet.remove(agent);
  }
  assert.deepEqual(await left(), [0, 0]);
});

test('agents are on both nodes, and where no manager answers they are reached by their names', async () => {
  const agents: Awaited<ReturnType<typeof newAgent>>[] = [];
  const without = await front(make(new Docker({ socketPath: '/nowhere/docker.sock' })));
  try {
    // A swarm counts what is still ending on a node, too: the second may be where the first is.
    const nodes: (string | undefined)[] = [];
    while (agents.length < 2 || (new Set(nodes).size < 2 && agents.length < 5)) {
      const agent = await newAgent(grounds);
      agents.push(agent);
      await driver.start(agent);
      nodes.push(await here.nodeOf(serviceOf(agent.id)));
    }
    assert.deepEqual(new Set(nodes), new Set(['node-1', 'node-2']));
    assert.deepEqual(await driver.alive?.(), new Set(agents.map(({ id }) => id)));
    for (const { id } of agents) assert.equal((await without.ask(id, 'GET', '/ready')).status, 200);
    const figures = await Promise.all(agents.map((agent) => driver.stats(agent)));
    assert.deepEqual(
      figures.map(({ memory }, index) => (memory !== null) === (nodes[index] === 'node-1')),
      agents.map(() => true),
      'what an engine measures is told of those beside the manager alone',
    );
  } finally {
    without.close();
    for (const agent of agents) await driver.remove(agent);
  }
});

test('an image that never becomes healthy, or that no node has, gives way to the one before, with all data', async () => {
  const fleet = fleetOf(make(here.manager, { healthMs: 10_000 }));
  await givesWay({ grounds, door, fleet }, { image: IMAGE, sick: SICK }, async (kept) => {
    await assert.rejects(
      fleet.update(await kept(), 'troupe.local/nowhere:1'),
      /Update failed, the previous image is running again: A node of the swarm has no such image: .*troupe\.local\/nowhere:1/,
    );
    await kept();
  });
});

test('an id that is too long for the name of a service runs all the same', () => runsWithLongId(grounds, driver, door));

test('a network that is not there is told of', async () => {
  const spread = { network: 'nowhere', driver: VOLUMES, driverOptions: {} };
  await assert.rejects(
    make(here.manager, { spread }).start(await newAgent(grounds)),
    /The container engine refused: .*nowhere/,
  );
});
