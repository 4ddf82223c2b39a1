import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import fc from 'fast-check';
import { sql } from 'kysely';

/** Row-level security of every table about people, plans, usage and spending, while two users work at once. */

const ADA = 'ada';
const BOB = 'bob';
const now = new Date();
const today = now.toISOString().slice(0, 10);

/** What a user may read of the own rows, and a row of each. */
const OWNED: Record<string, (id: string) => Record<string, unknown>> = {
  users: (id) => ({ id, email: `${id}@example.com`, name: id, referral_code: id, created_at: now, updated_at: now }),
  sessions: (id) => ({
    id,
    user_id: id,
    token_hash: id,
    device: 'd',
    ip: '::1',
    created_at: now,
    last_seen_at: now,
    expires_at: now,
  }),
  api_keys: (id) => ({ id, user_id: id, name: 'k', preview: 'sk_', key_hash: id, created_at: now }),
  account_links: (id) => ({ id, user_id: id, provider: 'idp1', subject: id, created_at: now, updated_at: now }),
  invites: (id) => ({
    id,
    user_id: id,
    token_hash: id,
    token_sealed: Buffer.from(id),
    by_admin: false,
    created_at: now,
    expires_at: now,
  }),
  audit_log: (id) => ({ user_id: id, action: 'test', created_at: now }),
  billing_customers: (id) => ({ user_id: id, customer_id: id, created_at: now }),
  billing_subscriptions: (id) => ({ id, user_id: id, plan: 'solo', status: 'active', event_at: now }),
  usage_logs: (id) => ({
    user_id: id,
    agent_id: 'a',
    model: 'm',
    provider: 'p',
    input_tokens: 1,
    output_tokens: 1,
    cost_micros: 1,
    latency_ms: 1,
    success: true,
    estimated: false,
    created_at: now,
  }),
  usage_sources_daily: (id) => ({
    user_id: id,
    day: today,
    kind: 'key',
    source_id: 's',
    calls: 1,
    input_tokens: 1,
    output_tokens: 1,
    cost_micros: 1,
  }),
  usage_daily: (id) => ({
    user_id: id,
    day: today,
    agent_id: 'a',
    model: 'm',
    provider: 'p',
    calls: 1,
    failures: 0,
    input_tokens: 1,
    output_tokens: 1,
    cost_micros: 1,
    latency_ms: 1,
  }),
  usage_tools_daily: (id) => ({
    user_id: id,
    day: today,
    agent_id: 'a',
    tool_name: 't',
    calls: 1,
    successes: 1,
    duration_ms: 1,
  }),
  spend_caps: (id) => ({
    user_id: id,
    scope: 'user',
    scope_id: '',
    period: 'month',
    limit_micros: 1,
    updated_at: now,
  }),
  spend_counters: (id) => ({ user_id: id, scope: 'user', scope_id: '', since: now, used: 1, reserved: 0 }),
};

/** No user reads these at all. */
const CLOSED = [
  'password_guesses',
  'password_resets',
  'email_verifications',
  'referrals',
  'billing_events',
  'risc_events',
  'wallet_nonces',
  'federated_refresh_tokens',
  'usage_batches',
  'spend_reservations',
];

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  for (const [table, row] of Object.entries(OWNED))
    for (const id of [ADA, BOB])
      await database.db.system
        .insertInto(table as never)
        .values(row(id) as never)
        .execute();
});
after(() => database.drop());

const ownerOf = (table: string) => sql.ref(table === 'users' ? 'id' : 'user_id');
const owners = async (as: string, table: string, inTransaction: boolean): Promise<string[]> => {
  const query = sql<{ owner: string }>`select ${ownerOf(table)} as owner from ${sql.table(table)}`;
  const { rows } = inTransaction
    ? await database.db.asUser(as, (tx) => query.execute(tx))
    : await query.execute(database.db.user(as));
  return rows.map(({ owner }) => owner);
};

test('whatever two users ask for at once, each gets the own row of every table and no other', async () => {
  const tables = Object.keys(OWNED);
  const question = fc.tuple(fc.constantFrom(ADA, BOB), fc.constantFrom(...tables), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(question, { minLength: 10, maxLength: 40 }), async (questions) => {
      const answers = await Promise.all(questions.map((asked) => owners(...asked)));
      for (const [index, [as, table]] of questions.entries()) assert.deepEqual(answers[index], [as], table);
    }),
    { numRuns: 20 },
  );
  for (const table of tables) assert.deepEqual(await owners(ADA, table, false), [ADA], table);
});

test('nobody writes, moves or removes another’s row', async () => {
  const as = database.db.user(ADA);
  for (const table of Object.keys(OWNED)) {
    const [name, owner] = [sql.table(table), ownerOf(table)];
    const attempts = [
      sql`delete from ${name} where ${owner} = ${BOB}`,
      sql`update ${name} set ${owner} = ${owner} where ${owner} = ${BOB}`,
      sql`update ${name} set ${owner} = ${BOB} where ${owner} = ${ADA}`,
    ];
    for (const attempt of attempts) {
      const changed = await attempt.execute(as).then(
        ({ numAffectedRows }) => numAffectedRows ?? 0n,
        (error: Error) => {
          assert.match(error.message, /row-level security|permission denied|append-only/, table);
          return 0n;
        },
      );
      assert.equal(changed, 0n, table);
    }
    const foreign = as.insertInto(table as never).values(OWNED[table]!(BOB) as never);
    await assert.rejects(foreign.execute(), /row-level security|permission denied/, table);
    assert.deepEqual(await owners(BOB, table, true), [BOB], table);
  }
});

test('what is the system’s is closed, and no table of these areas was forgotten', async () => {
  for (const table of CLOSED)
    await assert.rejects(
      sql`select from ${sql.table(table)}`.execute(database.db.user(ADA)),
      /permission denied/,
      table,
    );
  const { rows } = await sql<{ table_name: string }>`
    select table_name from information_schema.tables where table_schema = 'public'
      and table_name ~ '^(users|sessions|api_keys|account|invite|audit|billing|usage|spend_(caps|counters|reservations)|password|email|referral|risc|wallet_nonces|federated)'
    order by 1`.execute(database.db.system);
  assert.deepEqual(
    rows.map(({ table_name }) => table_name),
    [...Object.keys(OWNED), ...CLOSED].toSorted(),
  );
});
