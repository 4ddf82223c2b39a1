import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { eraseAccountJob } from '@troupe/contract';
import { untar } from '@troupe/kernel';
import { CARD_PROCESSOR, createLedger, walletAccount } from '@troupe/ledger';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { startServices, type Services } from '@troupe/testing/services/services';
import { cookieOf, person, provisioned, type Person } from '@troupe/testing/services/people';

/** An account is exported, closed, kept, and erased a week after it was closed. */

let services: Services;
const DAY = 86_400_000;

before(async () => {
  services = await startServices();
});
after(() => services.stop());

const someone = (given: Parameters<typeof person>[1] = { plan: 'network' }) => person(services, given);

async function exported(who: Person): Promise<Map<string, string>> {
  const answer = await fetch(`${services.web}/api/account/export`, { headers: who.headers() });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-disposition') ?? '', /attachment; filename=/);
  const files = new Map<string, string>();
  const pieces = async function* () {
    for await (const piece of answer.body!) yield Buffer.from(piece);
  };
  for await (const { path, content } of untar(pieces())) {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    files.set(path, Buffer.concat(parts).toString());
  }
  return files;
}

const rowsOf = (files: Map<string, string>, name: string) =>
  (files.get(`${name}-0001.ndjson`) ?? '')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A session of half an hour ago. */
const age = (who: Person) =>
  services.runtime.db.system
    .updateTable('sessions')
    .set({ created_at: new Date(Date.now() - 1_800_000), confirmed_at: null })
    .where('user_id', '=', who.id)
    .execute();

const userRow = (id: string) =>
  services.runtime.db.system.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();

/** As if the week were over. */
async function weekLater({ id }: Person): Promise<void> {
  await services.runtime.db.asSystem(async (tx) => {
    await tx
      .updateTable('users')
      .set({ erase_at: new Date(Date.now() - DAY) })
      .where('id', '=', id)
      .execute();
    await services.runtime.jobs.send(tx, eraseAccountJob, { userId: id });
  });
}

describe('an account', () => {
  it('is exported with all that is its own and nothing that opens something', async () => {
    const [ann, bob] = [await someone(), await someone()];
    const agentId = await provisioned(ann, { name: 'Ada' });
    await provisioned(bob, { name: 'Bobs' });
    await ann.ask('POST', '/api/memory', { agentId, key: 'colour', memory: 'Ann likes green' });
    const stored = await fetch(`${services.web}/api/agents/${agentId}/files/content?path=notes/plan.md`, {
      method: 'PUT',
      headers: { ...ann.headers(), 'content-type': 'application/octet-stream' },
      body: 'the plan',
    });
    assert.equal(stored.status, 201, await stored.text());
    const files = await exported(ann);
    assert.equal(JSON.parse(files.get('profile.json')!).email, ann.email);
    assert.deepEqual(
      rowsOf(files, 'agents').map(({ id, name }) => [id, name]),
      [[agentId, 'Ada']],
    );
    assert.match(rowsOf(files, 'memory')[0].content, /green/);
    assert.equal(files.get(`files/${agentId}/notes/plan.md`), 'the plan');
    assert.equal(rowsOf(files, 'api-keys').length, 1);
    const all = [...files.values()].join('\n');
    for (const secret of [ann.key, bob.id, bob.email, 'Bobs', 'token_hash', 'key_hash', '_sealed', 'sealed_'])
      assert.ok(!all.includes(secret), secret);
  });

  it('is exported in pages when there is much of it', async () => {
    const ann = await someone();
    const notices = Array.from({ length: 450 }, (_, n) => ({
      user_id: ann.id,
      kind: 'agent_failed',
      message: `notice ${n}`,
      subject: `s${n}`,
      created_at: new Date(),
      read_at: new Date(),
    }));
    await services.runtime.db.system.insertInto('notices').values(notices).execute();
    const files = await exported(ann);
    const parts = [...files.keys()].filter((name) => name.startsWith('notices-'));
    assert.deepEqual(parts, ['notices-0001.ndjson', 'notices-0002.ndjson', 'notices-0003.ndjson']);
    const lines = parts.flatMap((name) => files.get(name)!.trim().split('\n'));
    assert.equal(new Set(lines).size, 450);
  });

  it('is neither exported nor closed by a session that was not confirmed, or by a key', async () => {
    const ann = await someone();
    await age(ann);
    for (const [method, path] of [
      ['GET', '/api/account/export'],
      ['POST', '/api/account/close'],
    ] as const) {
      const refused = await ann.ask(method, path, method === 'POST' ? {} : undefined);
      assert.deepEqual([refused.status, refused.body.code], [403, 'CONFIRM_FIRST']);
      const byKey = await fetch(services.web + path, {
        method,
        headers: { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{}' }),
      });
      assert.equal(byKey.status, 401);
    }
    assert.equal((await userRow(ann.id))?.erase_at, null);
  });

  it('is told what it would lose, closed, and stops at once', async () => {
    const ann = await someone();
    const agentId = await provisioned(ann);
    const task = { agentId, name: 't', prompt: 'p', cronSchedule: '0 0 1 1 *' };
    assert.equal((await ann.ask('POST', '/api/scheduled-tasks', task)).status, 201);
    const p256dh = createECDH('prime256v1').generateKeys('base64url');
    const keys = { p256dh, auth: Buffer.alloc(16, 1).toString('base64url') };
    const browser = { endpoint: 'https://push.example/ann', keys };
    assert.equal((await ann.ask('POST', '/api/push/subscriptions', browser)).status, 201);
    const before = (await ann.ask('GET', '/api/account')).body;
    assert.deepEqual([before.agents, before.tasks, before.keys, before.refusal, before.eraseAt], [1, 1, 1, null, null]);
    const closed = await ann.ask('POST', '/api/account/close', {});
    assert.equal(closed.status, 200, JSON.stringify(closed.body));
    assert.ok(Math.abs(Date.parse(closed.body.eraseAt) - Date.now() - 7 * DAY) < 3_600_000);
    assert.equal((await ann.ask('GET', '/api/account')).status, 401);
    const byKey = await fetch(`${services.web}/api/settings`, { headers: { authorization: `Bearer ${ann.key}` } });
    assert.equal(byKey.status, 401);
    const system = services.runtime.db.system;
    const agent = await system.selectFrom('agents').selectAll().where('id', '=', agentId).executeTakeFirstOrThrow();
    assert.deepEqual([agent.status, agent.failure], ['stopped', 'Stopped: the account was closed.']);
    const tasks = await system.selectFrom('scheduled_tasks').select('enabled').where('user_id', '=', ann.id).execute();
    assert.deepEqual(tasks, [{ enabled: false }]);
    const told = await system.selectFrom('push_subscriptions').select('id').where('user_id', '=', ann.id).execute();
    assert.deepEqual(told, [], 'no browser is told any more');
  });

  it('is not closed while it pays, is paid for, has money, or is the last administrator', async () => {
    const { system } = services.runtime.db;
    const admin = await someone({ plan: 'network', isAdmin: true });
    assert.equal(
      (await admin.ask('POST', '/api/account/close', {})).body.error,
      'You are the only administrator: make somebody else one first',
    );
    await someone({ plan: 'network', isAdmin: true });
    assert.equal((await admin.ask('GET', '/api/account')).body.refusal, null);

    const ann = await someone();
    const subscription = {
      id: `sub-${ann.id}`,
      user_id: ann.id,
      plan: 'solo',
      status: 'active',
      event_at: new Date(),
    } as const;
    await system.insertInto('billing_subscriptions').values(subscription).execute();
    assert.equal((await ann.ask('POST', '/api/account/close', {})).body.error, 'Cancel your subscription first');
    await system
      .updateTable('billing_subscriptions')
      .set({ status: 'cancelled' })
      .where('user_id', '=', ann.id)
      .execute();

    const { address } = (await ann.ask('POST', '/api/wallet', { action: 'create' })).body;
    const ledger = createLedger({ clock: () => new Date() });
    const account = walletAccount(address);
    const hold = await services.runtime.db.asSystem(async (tx) => {
      await ledger.open(tx, [account, CARD_PROCESSOR]);
      const entries = [
        { account: account.id, amount: 2_500_000n },
        { account: CARD_PROCESSOR.id, amount: -2_500_000n },
      ];
      await ledger.post(tx, { key: `t-${ann.id}`, kind: 'top-up', entries });
      return ledger.hold(tx, { key: `h-${ann.id}`, account: account.id, amount: 1_000_000n });
    });
    assert.match((await ann.ask('POST', '/api/account/close', {})).body.error, /payment of yours is under way/);
    await services.runtime.db.asSystem((tx) => ledger.release(tx, hold.id));
    assert.match((await ann.ask('POST', '/api/account/close', {})).body.error, /Your wallets have 2\.50 USD here/);
    assert.deepEqual((await ann.ask('GET', '/api/account')).body.wallets, [{ address, balance: '2.50' }]);
    assert.equal((await ann.ask('POST', '/api/account/close', { giveUpMoney: true })).status, 200);
  });

  it('is kept by whoever signs in again within the week, and then not erased', async () => {
    const ann = await someone();
    assert.equal((await ann.ask('POST', '/api/account/keep')).status, 409);
    await ann.ask('POST', '/api/account/close', {});
    const again = { cookie: await cookieOf(services.runtime.db, ann) };
    const kept = await fetch(`${services.web}/api/account/keep`, { method: 'POST', headers: again });
    assert.equal(kept.status, 200);
    await services.runtime.db.asSystem((tx) => services.runtime.jobs.send(tx, eraseAccountJob, { userId: ann.id }));
    const other = await someone();
    await other.ask('POST', '/api/account/close', {});
    await weekLater(other);
    await allJobsRan(services.runtime.jobs);
    assert.equal(await userRow(other.id), undefined);
    assert.ok(await userRow(ann.id));
  });

  it('is erased after it: agents, files and rows go, the books stay, and the log says so', async () => {
    const ann = await someone();
    const agentId = await provisioned(ann);
    await services.runtime.db.system
      .insertInto('usage_daily')
      .values({
        user_id: ann.id,
        day: '2026-01-01',
        agent_id: agentId,
        model: 'm',
        provider: 'p',
        calls: 1n,
        failures: 0n,
        input_tokens: 1n,
        output_tokens: 1n,
        cost_micros: 7n,
        latency_ms: 1n,
      })
      .execute();
    await ann.ask('POST', '/api/account/close', {});
    await weekLater(ann);
    await allJobsRan(services.runtime.jobs);
    assert.equal(await userRow(ann.id), undefined);
    const { system } = services.runtime.db;
    for (const table of ['agents', 'agent_memory', 'sessions', 'api_keys', 'wallets', 'spend_counters'] as const)
      assert.deepEqual(
        await system.selectFrom(table).select('user_id').where('user_id', '=', ann.id).execute(),
        [],
        table,
      );
    const books = await system.selectFrom('usage_daily').select('cost_micros').where('user_id', '=', ann.id).execute();
    assert.equal(books.length, 1);
    const log = await system
      .selectFrom('audit_log')
      .select('action')
      .where('user_id', '=', ann.id)
      .orderBy('id')
      .execute();
    assert.deepEqual(log.map(({ action }) => action).slice(-2), ['account-closed', 'account-erased']);
  });

  it('is seen by administrators while it is closed', async () => {
    const [admin, ann] = [await someone({ plan: 'network', isAdmin: true }), await someone()];
    await ann.ask('POST', '/api/account/close', {});
    const { users } = (await admin.ask('GET', `/api/admin/users?search=${ann.email}`)).body;
    assert.ok(Date.parse(users[0].eraseAt) > Date.now());
  });
});
