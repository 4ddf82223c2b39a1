import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { eventsOf } from '@troupe/contract';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

let upstream: StandIn;
let services: Services;
let user: TestUser;
let admin: TestUser;
const today = new Date().toISOString().slice(0, 10);

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const web = (path: string, key = user.key, method = 'GET', body?: unknown) =>
  send(services.web + path, method, body, bearer(key));
const complete = (key = user.key) =>
  send(
    `${services.backend}/v1/chat/completions`,
    'POST',
    { model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
    bearer(key),
  );

before(async () => {
  upstream = await createStandIn((request, response) =>
    replyChat(request, response, { usage: { prompt_tokens: 100, completion_tokens: 20 } }),
  );
  services = await startServices({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: upstream.url });
  user = await addUser(services.runtime, { plan: 'network' });
  admin = await addUser(services.runtime, { plan: 'network', isAdmin: true });
});
after(async () => {
  await services.stop();
  await upstream.close();
});

test('a page that is open hears of usage, and reads it by the key that was shown', async () => {
  const gone = new AbortController();
  const stream = await fetch(`${services.web}/api/live`, { headers: bearer(user.key), signal: gone.signal });
  const events = eventsOf(stream);
  assert.equal((await events.next()).value?.event, 'ready');
  assert.equal((await complete()).status, 200);
  for await (const { event, data } of events) {
    if (event === 'changed' && data.includes('usage')) break;
  }
  gone.abort();
  const { status, body } = await web(`/api/costs?by=key&from=${today}&to=${today}`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.rows.map(({ name, calls, costUsd }: Record<string, unknown>) => [name, calls, costUsd]),
    [['test', 1, 0.0008]],
  );
  assert.deepEqual(body.days, [{ date: today, costUsd: 0.0008, chosenUsd: null }]);
});

test('what is asked for badly is told', async () => {
  for (const [query, error] of [
    ['by=colour', 'by must be agent, team, task, key or model'],
    ['from=yesterday', 'from and to must be days such as 2026-11-30'],
    ['from=2026-02-30', 'from and to must be days such as 2026-11-30'],
    ['from=2026-03-02&to=2026-03-01', 'A period begins before it ends and has 366 days at most'],
    ['from=2020-01-01', 'A period begins before it ends and has 366 days at most'],
  ]) {
    const { status, body } = await web(`/api/costs?${query}`);
    assert.deepEqual([status, body.error], [400, error], query);
    assert.equal((await web(`/api/costs/export?${query}`)).status, 400, query);
  }
});

test('CSV has a name, and is a download', async () => {
  const answer = await fetch(`${services.web}/api/costs/export?by=model&from=${today}`, { headers: bearer(user.key) });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-disposition') ?? '', /attachment; filename="cost-by-model-[\d-]+\.csv"/);
  const [head, line] = (await answer.text()).split('\r\n');
  assert.equal(head, 'day,id,name,calls,input_tokens,output_tokens,cost_usd');
  assert.equal(line, `${today},"openai/gpt-4o","openai/gpt-4o",1,100,20,0.000800`);
});

test('everybody’s are for administrators alone', async () => {
  for (const path of ['/api/admin/costs', '/api/admin/costs/export', '/api/admin/costs/forecast'])
    assert.equal((await web(path)).status, 403, path);
  const { body } = await web('/api/admin/costs?by=user', admin.key);
  assert.deepEqual(
    body.rows.map(({ id, owner }: Record<string, unknown>) => [id, owner]),
    [[user.id, user.email]],
  );
  const all = await web('/api/admin/costs/forecast', admin.key);
  assert.deepEqual([all.body.soFarUsd, all.body.endUsd], [0.0008, null]);
  const own = await web('/api/costs/forecast', admin.key);
  assert.equal(own.body.soFarUsd, 0);
});

test('budgets are in one list, each with what happens', async () => {
  await web('/api/usage/caps', user.key, 'PUT', { scope: 'user', limitUsd: 5 });
  const { system } = services.runtime.db;
  const now = new Date();
  await system.insertInto('agents').values({ id: 'payer', user_id: user.id, name: 'Payer' }).execute();
  await system
    .insertInto('payment_policies')
    .values({ agent_id: 'payer', user_id: user.id, per_day: 20_000_000n, approval_above: 5_000_000n, updated_at: now })
    .execute();
  const { budgets } = (await web('/api/budgets')).body;
  assert.deepEqual(
    budgets.map(({ kind, limit, used, steps, above }: Record<string, unknown>) => ({
      kind,
      limit,
      used,
      steps,
      above,
    })),
    [
      {
        kind: 'cap',
        limit: 5,
        used: 0.0008,
        steps: [
          { at: 80, does: 'tell' },
          { at: 100, does: 'refuse' },
        ],
        above: null,
      },
      { kind: 'tokens', limit: budgets[1].limit, used: 120, steps: [{ at: 100, does: 'nothing' }], above: null },
      { kind: 'payments', limit: 20, used: 0, steps: [{ at: 100, does: 'refuse' }], above: 5 },
    ],
  );
  assert.deepEqual((await web('/api/budgets', admin.key)).body.budgets.length, 1);
});
