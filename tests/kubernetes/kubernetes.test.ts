import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCluster, runInCluster } from '@troupe/testing/kubernetes/cluster';

const FILES = ['packages/fleet/src/kubernetes/kubernetes-program.ts', 'tests/kubernetes/platform.inside.ts'];

/** A cluster takes ten minutes of two cores to make and as long to be tried: only where somebody asks for it. */
const wanted = process.env['TROUPE_TEST_KUBERNETES'] === '1' && hasCluster();
const skip = !wanted && 'needs TROUPE_TEST_KUBERNETES=1 and what tests/kubernetes/build.sh makes';

test('agents in a Kubernetes cluster', { skip, timeout: 1_500_000 }, async () => {
  const { code, output } = await runInCluster(FILES);
  assert.equal(code, 0, output);
});
