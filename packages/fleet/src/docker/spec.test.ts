import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentRow } from '@troupe/roster';
import { specFor, type SpecDeps } from './spec.ts';

const withNetworks = (...names: string[]): SpecDeps =>
  ({
    engine: { listNetworks: async () => names.map((Name) => ({ Name })) },
    hostNetwork: false,
  }) as unknown as SpecDeps;

test('without a bridge an agent is refused, unless the operator lets it have the network of this machine', async () => {
  await assert.rejects(specFor(withNetworks('host', 'none'), {} as AgentRow), /has no bridge.*AGENT_HOST_NETWORK=true/);
  // With one it comes as far as asking for the rest.
  await assert.rejects(specFor(withNetworks('bridge'), {} as AgentRow), TypeError);
});
