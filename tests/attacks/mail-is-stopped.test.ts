import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Job, mailJob, noticeRaised } from '@troupe/contract';
import { notify } from '@troupe/db';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere, send } from '@troupe/testing/services/people';
import pg from 'pg';

/**
 * 2,000 verification mails asked for with made-up addresses, or the notices of 1,000 failing tasks, kept everybody else
 * waiting for their mail: a backlog drained two mails in five seconds.
 */
let scene: Scene;
let outbox: string;
before(async () => {
  // the test looks at the mails themselves
  scene = await startScene({ BLOB_STORE: 'folder' });
  outbox = join(scene.dataDir, 'outbox');
  mkdirSync(outbox, { recursive: true });
});
after(() => scene.stop());

const internal = (address: string) => ({
  authorization: `Bearer ${TEST_SECRETS.internalKey}`,
  'x-client-ip': address,
});
const resend = (email: string, address: string) =>
  send(`${scene.web}/api/auth/verify-email/resend`, 'POST', { email }, internal(address));

async function reset(): Promise<number> {
  const before = mailsTo(scene.bystander.email).length;
  const { status } = await send(
    `${scene.web}/api/auth/forgot-password`,
    'POST',
    { email: scene.bystander.email },
    internal(elsewhere()),
  );
  assert.equal(status, 200);
  const began = performance.now();
  while (mailsTo(scene.bystander.email).length === before) {
    assert.ok(performance.now() - began < 30_000, 'the mail did not come');
    await delay(50);
  }
  return performance.now() - began;
}

const mailsTo = (email: string): string[] =>
  readdirSync(outbox)
    .map((file) => readFileSync(join(outbox, file), 'utf8'))
    .filter((mail) => mail.includes(email));

async function jobs({ queue }: Job): Promise<number> {
  const client = new pg.Client({ connectionString: scene.database.url });
  await client.connect();
  const { rows } = await client.query<{ n: string }>('select count(*) as n from pgboss.job where name = $1', [queue]);
  await client.end();
  return Number(rows[0]!.n);
}

test('made-up addresses make no mail, one address asks 60 times a minute, and a reset comes at once', async () => {
  const made = await jobs(mailJob);
  const one = await Promise.all(Array.from({ length: 100 }, (_, n) => resend(`one${n}@example.com`, '10.6.6.6')));
  assert.equal(one.filter(({ status }) => status === 429).length, 40);
  await scene.unharmed(async () => {
    for (let round = 0; round < 20; round += 1) {
      const many = await Promise.all(
        Array.from({ length: 50 }, (_, n) => resend(`x${round}-${n}@example.com`, elsewhere())),
      );
      assert.ok(many.every(({ status }) => status === 200));
    }
  });
  assert.equal(await jobs(mailJob), made, 'addresses that nobody has became mails');
  const took = await reset();
  assert.ok(took < 5_000, `the reset mail took ${Math.round(took)} ms`);
});

test('somebody’s own address cannot be used to flood the letterbox', async () => {
  const made = await jobs(mailJob);
  for (let n = 0; n < 30; n += 1) await resend(scene.attacker.email, elsewhere());
  assert.ok((await jobs(mailJob)) - made <= 10);
});

test('a thousand notices of one user hold up neither a reset nor another’s notice', async () => {
  const { db } = scene.database;
  const notice = (user: string, n: number, kind: string) => ({
    user_id: user,
    kind,
    subject: `s${n}`,
    message: `Broken ${n}`,
    created_at: new Date(),
  });
  await db.system
    .insertInto('notices')
    .values(Array.from({ length: 1000 }, (_, n) => notice(scene.attacker.id, n, 'task_failing')))
    .execute();
  await db.system
    .insertInto('notices')
    .values(notice(scene.bystander.id, 0, 'task_failing'))
    .execute();
  await notify(db.system, noticeRaised, scene.bystander.id);
  const took = await reset();
  assert.ok(took < 5_000, `the reset mail took ${Math.round(took)} ms`);
  const began = performance.now();
  while (!mailsTo(scene.bystander.email).some((mail) => mail.includes('Broken 0'))) {
    assert.ok(performance.now() - began < 20_000, 'the notice did not come');
    await delay(100);
  }
  assert.ok(mailsTo(scene.attacker.email).filter((mail) => mail.includes('Broken')).length <= 5);
});
