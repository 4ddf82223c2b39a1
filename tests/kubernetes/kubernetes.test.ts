import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInCluster } from '@troupe/testing/kubernetes/cluster';
import { needs } from '@troupe/testing/machine/needs';

const FILES = ['packages/fleet/src/kubernetes/kubernetes-program.ts', 'tests/kubernetes/platform.inside.ts'];

// Its programs may still be made at this moment.
test('agents in a Kubernetes cluster', { skip: needs('a Kubernetes cluster'), timeout: 1_500_000 }, async () => {
  const { code, output } = await runInCluster(FILES);
  assert.equal(code, 0, output);
});
