import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentRow } from '@troupe/roster';
import { specFor, type SpecDeps } from './spec.ts';

test('the hosts of the own network that agents may reach are told to the container', async () => {
  const agent = { id: 'a', user_id: 'u', plan: 'solo', size: null, image: null, own_config: {} } as unknown as AgentRow;
  const deps = {
    engine: { listNetworks: async () => [{ Name: 'bridge' }], info: async () => ({ NCPU: 2 }) },
    roster: { definition: async () => ({ name: 'Ada' }), token: async () => 't', channelTokens: async () => ({}) },
    platformUrl: () => undefined,
    sessionSecret: 's',
    image: 'i',
    privateHosts: ['mcp.internal:8080', 'files.internal'],
  } as unknown as SpecDeps;
  const { env } = await specFor(deps, agent);
  assert.ok(env.includes('AGENT_PRIVATE_HOSTS=mcp.internal:8080,files.internal'));
});

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
