import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spreadOf } from './spread-settings.ts';

test('agents stay on one node unless a network and a volume driver are named, both', () => {
  assert.equal(spreadOf({}), undefined);
  for (const half of [{ SWARM_NETWORK: 'agents' }, { SWARM_VOLUME_DRIVER: 'rbd' }])
    assert.throws(() => spreadOf(half), /go together/);
  assert.throws(() => spreadOf({ SWARM_NETWORK: 'agents', SWARM_VOLUME_DRIVER: 'local' }), /keeps data on one node/);
});

test('what the driver is told may have commas and equals signs', () => {
  const both = { SWARM_NETWORK: 'agents', SWARM_VOLUME_DRIVER: 'nfs' };
  assert.deepEqual(spreadOf({ ...both, SWARM_VOLUME_OPTIONS: ' share=10.0.0.9:/troupe  o=nfsvers=4.2,hard ' }), {
    network: 'agents',
    driver: 'nfs',
    driverOptions: { share: '10.0.0.9:/troupe', o: 'nfsvers=4.2,hard' },
  });
  assert.deepEqual(spreadOf(both)?.driverOptions, {});
  assert.throws(() => spreadOf({ ...both, SWARM_VOLUME_OPTIONS: 'hard' }), /expected name=value/);
});
