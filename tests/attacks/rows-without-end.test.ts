import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Whatever a user can make again and again has a bound, or the oldest of it goes. */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

async function count(table: string, where: { user?: string; task?: string } = {}): Promise<number> {
  const of =
    where.task === undefined ? sql`user_id = ${where.user ?? scene.attacker.id}` : sql`task_id = ${where.task}`;
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(table)} where ${of}`.execute(
    scene.database.db.system,
  );
  return rows[0]!.n;
}

test('events of the underground end at a bound, each user’s own', async () => {
  const { attacker, bystander, database } = scene;
  await sql`insert into underground_events (user_id, agent_id, name, description, venue, event_date, ticket_price_usdc, total_tickets, created_at)
    select ${attacker.id}, ${attacker.agentId}, 'Gig', 'x', 'y', now(), '0', 1000000, now() from generate_series(1, 2000)`.execute(
    database.db.system,
  );
  const announce = ({ ask, agentId }: typeof attacker) =>
    ask('POST', '/api/underground/events', {
      agentId,
      name: 'Gig',
      description: 'x',
      venue: 'y',
      eventDate: '2030-01-01',
      ticketPriceUsdc: '0',
      totalTickets: 1_000_000,
    });
  const refused = await announce(attacker);
  assert.deepEqual([refused.status, refused.body.error], [429, 'Too many events (max 2000)']);
  const { status, body } = await announce(bystander);
  assert.equal(status, 201);
  await sql`insert into underground_tickets (id, event_id, user_id, agent_id, quantity, units, created_at)
    select 't' || n, ${body.id}, ${attacker.id}, ${attacker.agentId}, 1, 0, now() from generate_series(1, 1000) n`.execute(
    database.db.system,
  );
  const buy = ({ ask, agentId }: typeof attacker) =>
    ask('POST', `/api/underground/events/${body.id}/tickets`, { agentId, quantity: 1 });
  assert.equal((await buy(attacker)).status, 429);
  assert.equal((await buy(bystander)).status, 201);
});

test('splits end at a thousand a day', async () => {
  const { attacker, database } = scene;
  await sql`insert into splits (id, user_id, agent_id, name, units, payout, request_hash, created_at)
    select 's' || n, ${attacker.id}, ${attacker.agentId}, 'x', 1, 'accrued', '', now() from generate_series(1, 1000) n`.execute(
    database.db.system,
  );
  const split = { agentId: attacker.agentId, name: 'x', totalAmount: '1' };
  const recipients = [{ address: `0x${'1'.repeat(40)}`, share: 100 }];
  const refused = await attacker.ask('POST', '/api/underground/splits', { ...split, recipients });
  assert.deepEqual([refused.status, refused.body.error], [429, 'Too many splits (max 1000 a day)']);
  await sql`update splits set created_at = now() - interval '25 hours' where user_id = ${attacker.id}`.execute(
    database.db.system,
  );
  assert.equal((await attacker.ask('POST', '/api/underground/splits', { ...split, recipients })).status, 200);
});

test('of receipts, sessions, notices, devices and links the newest are kept', async () => {
  const { attacker, database } = scene;
  const { system } = database.db;
  const task = newId();
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, created_at, updated_at)
    values (${task}, ${attacker.id}, ${attacker.agentId}, 'x', '* * * * *', 'x', false, now(), now())`.execute(system);
  await sql`insert into task_runs (id, task_id, user_id, due_at, status, started_at)
    select ${task} || n, ${task}, ${attacker.id}, now() + make_interval(mins => n),
      case when n = 1 then 'running' else 'succeeded' end, now() from generate_series(1, 520) n`.execute(system);
  // The one that runs stays, however old.
  assert.equal(await count('task_runs', { task }), 501);
  await sql`insert into sessions (id, user_id, token_hash, device, ip, created_at, last_seen_at, expires_at)
    select 'many' || n, ${attacker.id}, 'many' || n, 'x', '', now() + make_interval(secs => n), now(), now() + interval '1 day'
    from generate_series(1, 120) n`.execute(system);
  assert.equal(await count('sessions'), 100);
  await sql`insert into notices (user_id, kind, subject, message, created_at, read_at)
    select ${attacker.id}, 'task_failed', 'x' || n, 'x', now(), case when n > 5 then now() end
    from generate_series(1, 1100) n`.execute(system);
  assert.equal(await count('notices'), 1005);
  await sql`insert into devices (id, user_id, agent_id, name, ip, secret_hash, status, first_seen, last_seen)
    select 'd' || n, ${attacker.id}, ${attacker.agentId}, 'x', '', 'x', 'pending', now() + make_interval(secs => n), now()
    from generate_series(1, 130) n`.execute(system);
  assert.equal(await count('devices'), 100);
  await sql`insert into password_resets (token_hash, user_id, expires_at)
    select 'r' || n, ${attacker.id}, now() - interval '1 hour' from generate_series(1, 10) n`.execute(system);
  await sql`insert into password_resets (token_hash, user_id, expires_at)
    values ('new', ${attacker.id}, now() + interval '1 hour')`.execute(system);
  assert.equal(await count('password_resets'), 1);
});
