import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInCluster } from '@troupe/testing/kubernetes/cluster';
import { needs } from '@troupe/testing/machine/needs';

const FILES = [
  'packages/fleet/src/kubernetes/kubernetes-program.ts',
  'tests/kubernetes/platform.inside.ts',
  'tests/kubernetes/chart.inside.ts',
];

const skip = needs('a Kubernetes cluster (tests/kubernetes/build.sh, as root)', 'redis-server');

/** Where its programs are still being made, it waits for them. */
test('agents and the platform in a Kubernetes cluster', { skip, timeout: 2_400_000 }, async (t) => {
  const { code, output } = await runInCluster(FILES);
  assert.equal(code, 0, output);
  for (const line of output.matchAll(/^\s*ℹ (.* s)$/gm)) t.diagnostic(line[1] ?? '');
});
