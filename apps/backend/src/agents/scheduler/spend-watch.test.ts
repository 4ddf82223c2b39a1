import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { createSpendWatch } from './spend-watch.ts';

test('an owner is told once in each window that a cap is nearly used up', async () => {
  const { db, clock, close } = await testRuntime();
  for (const id of ['near', 'far']) await testUser(db, id);
  await sql`insert into spend_caps (user_id, scope, scope_id, period, limit_micros, updated_at)
    values ('near', 'user', '', 'month', 10000000, now()), ('far', 'user', '', 'month', 10000000, now())`.execute(
    db.system,
  );
  await sql`insert into spend_counters (user_id, scope, scope_id, since, used, reserved)
    select id, 'user', '', spend_since('month', ${clock()}), used, 0 from (values ('near', 8000000), ('far', 7900000)) v (id, used)`.execute(
    db.system,
  );
  const watch = createSpendWatch({ db, clock });
  const told = () => db.system.selectFrom('notices').select(['user_id', 'message']).execute();
  await watch();
  await watch();
  assert.deepEqual(await told(), [
    { user_id: 'near', message: 'The spend cap of your agents is nearly used up: 8.00 of 10.00 USD' },
  ]);
  await db.system.updateTable('notices').set({ read_at: clock() }).execute();
  await watch();
  assert.equal((await told()).length, 1);
  await close();
});
