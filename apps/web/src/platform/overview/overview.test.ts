import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

let web: TestWeb;
let ada: Person;
before(async () => {
  web = await testWeb();
  ada = await signedIn(web);
  const { system } = web.deps.db;
  await sql`insert into agents (id, user_id, name, status) values ('a1', ${ada.id}, 'A', 'running'), ('a2', ${ada.id}, 'B', 'error')`.execute(
    system,
  );
  await sql`insert into usage_logs (user_id, agent_id, model, provider, input_tokens, output_tokens, cost_micros, latency_ms, success, estimated, created_at)
    values (${ada.id}, 'a1', 'm', 'p', 100, 50, 1250000, 40, true, false, now())`.execute(system);
  await sql`insert into usage_daily (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens, cost_micros, latency_ms)
    values (${ada.id}, current_date, 'a1', 'm', 'p', 4, 1, 100, 50, 1250000, 200)`.execute(system);
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, next_run, created_at, updated_at)
    values ('t', ${ada.id}, 'a1', 'Report', '0 9 * * *', 'x', now() + interval '1 hour', now(), now())`.execute(system);
});
after(() => web.stop());

const get = async (url: string, who: Person | null) => web.server.app.inject({ url, headers: { ...who?.headers } });

test('metrics are counted from the user’s own rows', async () => {
  const { metrics, status } = (await get('/api/metrics', ada)).json();
  assert.equal(status, 'ok');
  assert.deepEqual(metrics.agents, { total: 2, running: 1, stopped: 0, failed: 1 });
  assert.deepEqual(metrics.performance, { calls: 4, averageMs: 50, successRate: 0.75 });
  const bob = await signedIn(web);
  assert.equal((await get('/api/metrics', bob)).json().metrics.agents.total, 0);
  assert.equal((await get('/api/metrics', null)).statusCode, 401);
});

test('the brief has six parts; with a session they are the user’s own', async () => {
  const { brief, date } = (await get('/api/daily-brief', ada)).json() as {
    date: string;
    brief: { id: string; items: string[] }[];
  };
  assert.equal(date, new Date().toISOString().slice(0, 10));
  assert.deepEqual(
    brief.map(({ id }) => id),
    ['system', 'tasks', 'focus', 'intel', 'security', 'calendar'],
  );
  const items = Object.fromEntries(brief.map(({ id, items: list }) => [id, list]));
  assert.ok(items['system']?.includes('1 agent running'));
  assert.ok(items['system']?.includes('1 agent failed'));
  assert.deepEqual(items['intel'], ['1 model call, 150 tokens, 1.25 USD']);
  assert.equal(items['security']?.[0], '1 sign-in');
  assert.match(items['calendar']?.[0] ?? '', /^Report at /);
});

test('without a session the brief tells of the platform alone', async () => {
  const { brief } = (await get('/api/daily-brief', null)).json() as { brief: { id: string; items: string[] }[] };
  assert.match(brief[0]!.items.join(), /degraded/);
  assert.ok(brief.slice(1).every(({ items }) => items.length === 0));
});
