import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { runInClosedNetwork } from '@troupe/testing/machine/closed-network';
import { needs } from '@troupe/testing/machine/needs';

/**
 * An agent's own webhook that takes connections and never answers held up the messages to everybody else's agents. What
 * others notice is measured inside, by scene.unharmed().
 */
const INSIDE = path.join(import.meta.dirname, 'webhook-that-hangs.inside.ts');

test(
  'a webhook that hangs holds up its owner’s messages, and nobody else’s',
  { skip: needs('network namespaces'), timeout: 120_000 },
  async () => {
    const { code, output } = await runInClosedNetwork(INSIDE);
    assert.equal(code, 0, output);
    assert.match(output, /pass 1/, output);
  },
);
