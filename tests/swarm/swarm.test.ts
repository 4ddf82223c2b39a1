import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '@troupe/testing/machine/needs';
import { runInSwarm } from '@troupe/testing/swarm/swarm';

const FILES = [
  'packages/fleet/src/docker/spread-program.ts',
  'tests/swarm/platform.inside.ts',
  'tests/swarm/stack.inside.ts',
];

const skip = needs('two container engines with overlay networks (as root)');

test('agents and the platform in a swarm of two nodes', { skip, timeout: 900_000 }, async (t) => {
  const { code, output } = await runInSwarm(FILES);
  assert.equal(code, 0, output);
  for (const line of output.matchAll(/^\s*ℹ (.* s)$/gm)) t.diagnostic(line[1] ?? '');
});
