import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AppError } from '@troupe/kernel';
import { platformAccount } from '@troupe/testing/kubernetes/account';
import { thisCluster, type ThisCluster } from '@troupe/testing/kubernetes/cluster';
import { addImages, IMAGE, SICK } from '@troupe/testing/kubernetes/images';
import type { Driver } from '../driver.ts';
import { createFleet } from '../fleet.ts';
import { givesWay, hasNoSecrets } from '../outside-testing.ts';
import { conformance, front, newAgent, testGrounds, type Door, type Grounds } from '../testing.ts';
import { createKubernetes, kubernetesCluster, type Cluster } from './kubernetes.ts';
import { kubernetesDeps } from './testing.ts';

/** Run by tests/kubernetes, beside a cluster. The driver is who deploy/kubernetes says, and may do nothing else there. */

const NAMESPACE = 'drivers';
let here: ThisCluster;
let reach: () => Promise<Cluster>;
let grounds: Grounds;
let driver: Driver;
let door: Door;
before(async () => {
  here = thisCluster();
  const { account, settings } = await platformAccount(here, NAMESPACE);
  await addImages(here);
  reach = () => kubernetesCluster(settings, account);
  grounds = await testGrounds();
  driver = createKubernetes(kubernetesDeps(grounds, await reach()));
  door = await front(driver);
});
after(async () => {
  door?.close();
  await driver?.disconnect();
  await driver?.close();
  await grounds?.runtime.close();
});
conformance(() => ({ grounds, driver, ask: door.ask }));

const fleetOf = (used: Driver) =>
  createFleet({ ...grounds.runtime, roster: grounds.roster, driver: used, version: '1.0.0' });
const KINDS = 'statefulsets,pods,secrets,persistentvolumeclaims,networkpolicies';
/** As much of a pod's as is looked at. */
interface Spec {
  automountServiceAccountToken: boolean;
  securityContext: { runAsNonRoot: boolean; runAsUser: number; seccompProfile: object };
  containers: { resources: { limits: object }; securityContext: object }[];
}
interface Listed {
  items: { kind: string; metadata: { name: string }; spec?: Spec; data?: Record<string, string> }[];
}
const objects = async (): Promise<Listed['items']> =>
  (await here.json<Listed>('--namespace', NAMESPACE, 'get', KINDS, '-l', 'troupe.agent')).items;
const kinds = async () => (await objects()).map(({ kind }) => kind).sort();

test('nothing is left of one that is removed', async () => {
  for (let tries = 0; (await kinds()).length > 0; tries += 1) assert.ok(tries < 100, JSON.stringify(await kinds()));
});

test('an agent has what its plan gives, no right, and no secret of the platform; a stop leaves only its data', async () => {
  const fleet = fleetOf(driver);
  const { agent, placement } = await fleet.start(await newAgent(grounds));
  try {
    assert.equal(placement.container?.status, 'running');
    assert.deepEqual(await kinds(), ['NetworkPolicy', 'PersistentVolumeClaim', 'Pod', 'Secret', 'StatefulSet']);
    const all = await objects();
    const pod = all.find(({ kind }) => kind === 'Pod')!.spec!;
    const container = pod.containers[0]!;
    assert.deepEqual(container.resources.limits, { cpu: '1', memory: '2Gi' });
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    });
    const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext;
    assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile], [true, 1000, { type: 'RuntimeDefault' }]);
    assert.equal(pod.automountServiceAccountToken, false);
    hasNoSecrets(
      grounds,
      all.map((one) => [one, Object.values(one.data ?? {}).map(atob)]),
    );
    await fleet.stop(agent);
    assert.deepEqual(await kinds(), ['NetworkPolicy', 'PersistentVolumeClaim', 'Secret', 'StatefulSet']);
  } finally {
    await fleet.remove(agent);
  }
});

test('an image that starts and never becomes healthy gives way to the one before, with all data', async () => {
  const hasty = createKubernetes({ ...kubernetesDeps(grounds, await reach()), healthMs: 15_000 });
  const fleet = fleetOf(hasty);
  try {
    await givesWay({ grounds, door, fleet }, { image: IMAGE, sick: SICK }, async (kept) => {
      // A cluster that is busy takes longer than that to find out that there is no such image.
      await assert.rejects(
        fleetOf(driver).update(await kept(), 'troupe.local/nowhere:1'),
        /Update failed, the previous image is running again: The cluster cannot get the image: .*troupe\.local\/nowhere:1/,
      );
      await kept();
    });
  } finally {
    await hasty.close();
  }
});

test('a pod that is deleted by somebody else is told of while it is away, and comes back by itself with its data', async () => {
  const { agent, placement } = await fleetOf(driver).start(await newAgent(grounds));
  const token = await grounds.roster.token(agent);
  try {
    await door.ask(agent.id, 'PUT', '/memory', token, { key: 'word', content: 'kept' });
    await until('it is alive', async () => (await driver.alive!())?.has(agent.id) === true);
    await here.kubectl(['--namespace', NAMESPACE, 'delete', 'pod', placement.container!.name]);
    await until('it answers again', async () => (await door.ask(agent.id, 'GET', '/ready')).status === 200);
    assert.match(JSON.stringify((await door.ask(agent.id, 'GET', '/memory', token)).body), /kept/);
  } finally {
    await driver.remove(agent);
  }
});

test('an id that is too long for a name, and has letters that no name may have, runs all the same', async () => {
  const agent = await newAgent(grounds, `Team_1_abcdef-${'x'.repeat(60)}`);
  await driver.start(agent);
  await until('it answers', async () => (await door.ask(agent.id, 'GET', '/ready')).status === 200);
  await until('it is alive', async () => (await driver.alive!())?.has(agent.id) === true);
  await driver.remove(agent);
});

test('what the role does not name is refused with a sentence', async () => {
  const { paths, ...cluster } = await reach();
  const sets = paths.sets.replace(NAMESPACE, 'default');
  const elsewhere = createKubernetes(kubernetesDeps(grounds, { ...cluster, paths: { ...paths, sets } }));
  const agent = await newAgent(grounds);
  try {
    await assert.rejects(elsewhere.start(agent), (error: AppError) => {
      assert.match(error.message, /^The cluster refused: statefulsets\.apps .* is forbidden/);
      return error.status === 500;
    });
  } finally {
    await driver.remove(agent);
    await elsewhere.close();
  }
});

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await done());) {
    assert.ok(Date.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
