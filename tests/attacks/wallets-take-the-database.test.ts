import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** A list of a thousand wallets asked the database two thousand times, all at once, before anybody else had a turn. */
let scene: Scene;
before(async () => {
  scene = await startScene();
  const { attacker, database } = scene;
  await sql`insert into wallets (id, user_id, agent_id, address, kind, sealed_key, created_at)
    select 'w' || n, ${attacker.id}, ${attacker.agentId}, '0x' || lpad(to_hex(n), 40, '0'), 'added', decode('00', 'hex'), now()
    from generate_series(1, 990) n`.execute(database.db.system);
  await sql`insert into ledger_accounts (id, asset, balance, held, allow_negative, created_at)
    select kind || ':0x' || lpad(to_hex(n), 40, '0'), 'USD', n, 0, false, now()
    from generate_series(1, 990) n, unnest(array['wallet', 'owed']) kind`.execute(database.db.system);
});
after(() => scene.stop());

const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

test('somebody who lists them again and again keeps nobody waiting', { timeout: 120_000 }, async () => {
  const { attacker } = scene;
  const { body } = await attacker.ask('GET', '/api/underground/wallets');
  assert.equal(body.count, 990);
  const last = body.wallets.find(({ address }: { address: string }) => address.endsWith('3de'));
  assert.deepEqual([Number(last?.available), Number(last?.owed)], [0.00099, 0.00099]);
  await scene.unharmed(async () => {
    for (let round = 0; round < 4; round += 1) {
      const asked = await times(20, () => attacker.ask('GET', '/api/underground/wallets'));
      for (const { status } of asked) assert.ok([200, 429].includes(status), String(status));
    }
  });
  await scene.unharmed(async () => {
    for (let round = 0; round < 3; round += 1)
      for (const { status } of await times(20, () => attacker.ask('GET', '/api/account'))) assert.equal(status, 200);
  });
});
