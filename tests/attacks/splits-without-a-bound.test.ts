import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** A thousand splits of a thousand recipients each were one answer. */
const MB = 1024 * 1024;
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

/** As they could be made before recipients had a bound. */
async function largeSplits(count: number, recipients: number): Promise<void> {
  const { attacker, database } = scene;
  const { system } = database.db;
  await sql`insert into splits (id, user_id, agent_id, name, units, payout, request_hash, created_at)
    select 'large-' || n, ${attacker.id}, ${attacker.agentId}, 'Large', ${recipients}, 'accrued', '', now()
    from generate_series(1, ${count}::integer) n`.execute(system);
  await sql`insert into split_parts (split_id, position, user_id, address, share, units, status)
    select 'large-' || n, p, ${attacker.id}, '0x' || repeat('ab', 20), '0.1', 1, 'accrued'
    from generate_series(1, ${count}::integer) n, generate_series(1, ${recipients}::integer) p`.execute(system);
}

test('a page of splits has a bound in bytes, and all of them can be read', async () => {
  await largeSplits(60, 500);
  const seen = new Set<string>();
  await scene.unharmed(async () => {
    for (let more = true; more;) {
      const { status, body } = await scene.attacker.ask('GET', `/api/underground/splits?limit=200&offset=${seen.size}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(JSON.stringify(body).length < 3 * MB);
      assert.equal(body.count, body.splits.length);
      for (const { splitId, recipients } of body.splits) {
        assert.equal(recipients.length, 500);
        seen.add(splitId);
      }
      more = body.hasMore;
      assert.ok(body.count > 0);
    }
  });
  assert.equal(seen.size, 60);
});

test('a split has at most a hundred recipients', async () => {
  const split = (count: number) =>
    scene.attacker.ask('POST', '/api/underground/splits', {
      agentId: scene.attacker.agentId,
      name: 'Many',
      totalAmount: '1',
      recipients: Array.from({ length: count }, (_, n) => ({
        address: `0x${(n + 1).toString(16).padStart(40, '0')}`,
        share: 100 / count,
      })),
    });
  assert.equal((await split(100)).status, 200);
  const { status, body } = await split(101);
  assert.deepEqual([status, body.error], [400, 'Too many recipients (max 100)']);
});
