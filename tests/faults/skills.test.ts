import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { skillMd } from '@troupe/testing/backups/archives';
import { send } from '@troupe/testing/services/people';
import { startService, type ServiceProcess } from '@troupe/testing/processes/service';
import { addUser, type TestUser } from '@troupe/testing/services/users';

/** A platform that is killed while a skill comes in or is accepted: it waits, or it is taken, and nothing is between. */

let database: TestDatabase;
let ada: TestUser;
let web: ServiceProcess;
before(async () => {
  database = await testDatabase();
  ada = await addUser(database, { plan: 'solo' });
  web = await startService('web', { DATABASE_URL: database.url });
});
after(async () => {
  await web.kill('SIGKILL');
  await database.drop();
});

const ask = (method: string, path: string, body?: unknown) =>
  send(web.address + path, method, body, { authorization: `Bearer ${ada.key}` });
const review = () => ask('POST', '/api/skills/reviews', { files: [{ path: 'SKILL.md', content: skillMd('maps') }] });
const counts = async () => {
  const { rows } = await sql`select (select count(*)::integer from skills) as skills,
    (select count(*)::integer from skill_versions) as versions,
    (select count(*)::integer from skill_files) as files`.execute(database.db.system);
  return rows[0];
};

/** Kills web in the middle of `what`: in its transaction, at the lock that it waits for. Then starts another. */
async function killedDuring(what: () => Promise<unknown>): Promise<void> {
  await database.db.asSystem(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`skills:${ada.id}`}, 0))`.execute(tx);
    const asked = what().catch(() => 'cut');
    for (let isWaiting = false; !isWaiting; await delay(20)) {
      const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(tx);
      isWaiting = rows.length > 0;
    }
    await web.kill('SIGKILL');
    assert.equal(await asked, 'cut');
  });
  web = await startService('web', { DATABASE_URL: database.url });
}

test('killed while it comes in: nothing is there, and it can be sent again', async () => {
  await killedDuring(review);
  assert.deepEqual(await counts(), { skills: 0, versions: 0, files: 0 });
  assert.equal((await review()).status, 201);
});

test('killed between review and word: it waits; killed while it is accepted: it still waits', async () => {
  await web.kill('SIGKILL');
  web = await startService('web', { DATABASE_URL: database.url });
  const { reviews, skills } = (await ask('GET', '/api/skills')).body;
  assert.deepEqual([reviews.length, skills.length], [1, 0]);
  const { id, digest } = reviews[0];
  const accept = () => ask('POST', `/api/skills/reviews/${id}/accept`, { digest });
  await killedDuring(accept);
  assert.deepEqual(await counts(), { skills: 0, versions: 1, files: 1 });
  const taken = await accept();
  assert.deepEqual([taken.status, taken.body.version], [200, 1], JSON.stringify(taken.body));
  assert.deepEqual(await counts(), { skills: 1, versions: 1, files: 1 });
});
