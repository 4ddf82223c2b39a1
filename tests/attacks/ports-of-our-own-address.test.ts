import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { runInClosedNetwork } from '@troupe/testing/machine/closed-network';
import { needs } from '@troupe/testing/machine/needs';

/**
 * A machine that has its public address itself reaches every port of it, past a firewall that keeps all others out: what listens
 * there for its own network alone answered agents.
 */
const INSIDE = path.join(import.meta.dirname, 'ports-of-our-own-address.inside.ts');

test(
  'what listens on the machine’s own public address is not reached',
  { skip: needs('network namespaces'), timeout: 60_000 },
  async () => {
    const { code, output } = await runInClosedNetwork(INSIDE);
    assert.equal(code, 0, output);
    assert.match(output, /pass 2/, output);
  },
);
