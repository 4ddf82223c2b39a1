import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Six bus messages of 275 KB, sent to an agent whose id was all that was known of it, spent its owner's whole day. */
let scene: Scene;
before(async () => {
  scene = await startScene();
  const { attacker } = scene;
  const wallet = { agentId: attacker.agentId };
  assert.equal((await attacker.askBackend('POST', '/api/underground/wallets', wallet)).status, 201);
});
after(() => scene.stop());

async function write(size: number) {
  const { attacker, bystander } = scene;
  const message = {
    version: '1.0',
    messageId: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    from: { agentId: attacker.agentId },
    to: { agentId: bystander.agentId },
    action: 'HELLO',
    payload: { text: 'x'.repeat(size) },
  };
  const signed = await attacker.askBackend('POST', '/api/underground/bus/sign', { message });
  assert.equal(signed.status, 200);
  return attacker.askBackend('POST', '/api/underground/bus/send', signed.body.message);
}

const taken = async () => {
  const { db } = scene.database;
  const { bystander } = scene;
  const rows = await db.system.selectFrom('bus_messages').select('id').where('to_user_id', '=', bystander.id).execute();
  return rows.length;
};

test('a stranger’s messages are refused, whatever their size, and cost the owner nothing', async () => {
  for (let n = 0; n < 6; n += 1) {
    assert.equal((await write(275_000)).status, 413);
    assert.equal((await write(100)).status, 403);
  }
  assert.equal(await taken(), 0);
});

test('an open door lets in what its owner has set, and no more', async () => {
  const { bystander } = scene;
  const door = `/api/underground/doors/${bystander.agentId}`;
  assert.equal((await bystander.ask('PUT', door, { open: true, messagesPerSender: 2 })).status, 200);
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await write(100)).status);
  assert.deepEqual(statuses, [200, 200, 429, 429]);
  assert.equal(await taken(), 2);
});
