import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createStandIn, replyChat, replyJson, type StandIn, type StandInHandler } from '@troupe/ai';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

const MODEL = 'openai/gpt-4o';

const answer: StandInHandler = (request, response) =>
  replyChat(request, response, { usage: { prompt_tokens: 100, completion_tokens: 20 } });

let upstream: StandIn;
let services: Services;
let user: TestUser;

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const web = (method: string, path: string, body?: unknown, key = user.key) =>
  send(services.web + path, method, body, bearer(key));
const complete = (key = user.key, headers: Record<string, string> = {}, given: object = {}) =>
  send(
    `${services.backend}/v1/chat/completions`,
    'POST',
    { model: MODEL, messages: [{ role: 'user', content: 'Hi' }], ...given },
    { ...bearer(key), ...headers },
  );

/** Waits until the batch with the last call has been written. */
async function recorded(userId: string, calls: number): Promise<void> {
  for (;;) {
    const rows = await services.runtime.db.system
      .selectFrom('usage_logs')
      .select('id')
      .where('user_id', '=', userId)
      .execute();
    if (rows.length >= calls) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

before(async () => {
  upstream = await createStandIn(answer);
  services = await startServices({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: upstream.url });
  user = await addUser(services.runtime, { plan: 'network' });
});

beforeEach(() => {
  upstream.answer(answer);
  upstream.requests.length = 0;
});

after(async () => {
  await services.stop();
  await upstream.close();
});

describe('usage', () => {
  const COST = (100 * 5 + 20 * 15) / 1_000_000;
  const today = new Date().toISOString().slice(0, 10);

  before(async () => {
    await complete(user.key, { 'x-agent-id': 'agent-1' });
    await complete(user.key, { 'x-agent-id': 'agent-1' }, { stream: true }).catch(() => {});
    await complete(user.key, { 'x-agent-id': 'agent-2' }, { model: 'openai/gpt-4o-mini' });
    await complete();
    await recorded(user.id, 4);
    const agents = services.runtime.db.system.insertInto('agents');
    await agents.values({ id: 'agent-1', user_id: user.id, name: 'Writer', status: 'running' }).execute();
    await agents.values({ id: 'agent-2', user_id: user.id, name: 'Reader', status: 'stopped' }).execute();
  });

  it('needs a session', async () => {
    for (const path of [
      '/api/usage/summary',
      '/api/usage/by-agent/x',
      '/api/usage/by-model',
      '/api/usage/daily',
      '/api/usage/tools',
      '/api/usage/caps',
      '/api/dashboard/cost',
    ]) {
      const { status, body } = await web('GET', path, undefined, 'nobody');
      assert.deepEqual([status, body], [401, { error: 'Unauthorized' }], path);
    }
  });

  it('summary: by day, agent and model, streams included', async () => {
    const { body } = await web('GET', '/api/usage/summary');
    assert.equal(body.days, 30);
    assert.equal(body.count, 3);
    assert.deepEqual(body.rows[0], {
      date: today,
      agent_id: 'agent-1',
      model: MODEL,
      provider: 'openrouter',
      input_tokens: 200,
      output_tokens: 40,
      total_tokens: 240,
      cost_usd: COST * 2,
      turn_count: 2,
    });
    const { body: one } = await web('GET', '/api/usage/summary?agentId=agent-1');
    assert.deepEqual(
      one.rows,
      body.rows.filter((row: { agent_id: string }) => row.agent_id === 'agent-1'),
    );
    assert.ok(one.count > 0 && one.count < body.count);
  });

  it('by agent', async () => {
    const { body } = await web('GET', '/api/usage/by-agent/agent-1?days=7');
    assert.deepEqual(body.rows, [
      {
        model: MODEL,
        provider: 'openrouter',
        input_tokens: 200,
        output_tokens: 40,
        total_tokens: 240,
        cost_usd: COST * 2,
        events: 2,
      },
    ]);
    assert.equal(body.days, 7);
  });

  it('by model, daily and tools', async () => {
    const byModel = (await web('GET', '/api/usage/by-model')).body;
    assert.deepEqual(
      byModel.rows.map((row: { model: string; turns: number }) => [row.model, row.turns]),
      [
        [MODEL, 3],
        ['openai/gpt-4o-mini', 1],
      ],
    );
    const daily = (await web('GET', '/api/usage/daily')).body;
    assert.equal(daily.rows.length, 7);
    assert.deepEqual(
      [daily.rows.at(-1).date, daily.rows.at(-1).turns, daily.rows.at(-1).total_tokens],
      [today, 4, 480],
    );
    assert.deepEqual((await web('GET', '/api/usage/tools?agentId=agent-1')).body, { rows: [], count: 0, days: 7 });
  });

  it('is the caller’s own', async () => {
    const other = await addUser(services.runtime, { plan: 'solo' });
    for (const path of ['/api/usage/summary', '/api/usage/by-agent/agent-1', '/api/usage/by-model']) {
      assert.deepEqual((await web('GET', path, undefined, other.key)).body.rows, [], path);
    }
  });

  it('cost dashboard: every field, for each period', async () => {
    for (const period of ['7d', '30d', 'mtd']) {
      const { status, body } = await web('GET', `/api/dashboard/cost?period=${period}`);
      assert.equal(status, 200);
      assert.equal(body.period, period);
      const cheap = Math.ceil(100 * 0.15 + 20 * 0.6) / 1_000_000;
      assert.ok(Math.abs(body.summary.totalCost - (COST * 3 + cheap)) < 1e-9);
      assert.deepEqual([body.summary.totalTokens, body.summary.totalCalls], [480, 4]);
      assert.ok(Math.abs(body.summary.avgCostPerCall - body.summary.totalCost / 4) < 1e-9);
      assert.deepEqual(
        body.agents.map((agent: { name: string; calls: number; model: string }) => [
          agent.name,
          agent.calls,
          agent.model,
        ]),
        [
          ['Writer', 2, MODEL],
          ['Direct calls', 1, MODEL],
          ['Reader', 1, 'openai/gpt-4o-mini'],
        ],
      );
      assert.equal(body.daily.length, period === '7d' ? 7 : period === '30d' ? 30 : new Date().getUTCDate());
      assert.match(body.daily[0].date, /^[A-Z][a-z]{2} \d{1,2}$/);
      assert.equal(
        Math.round(body.modelBreakdown.reduce((sum: number, row: { percent: number }) => sum + row.percent, 0)),
        100,
      );
      assert.deepEqual(
        [body.isMockData, body.plan, body.planMonthlyCost, body.agentCount, body.activeAgents],
        [false, 'network', 499, 2, 1],
      );
    }
    assert.equal((await web('GET', '/api/dashboard/cost')).body.period, '7d');
  });

  it('a call that fails is a row too', async () => {
    upstream.answer((_request, response) => replyJson(response, {}, 500));
    assert.equal((await complete()).status, 500);
    await recorded(user.id, 5);
    const rows = await services.runtime.db.system
      .selectFrom('usage_logs')
      .selectAll()
      .where('user_id', '=', user.id)
      .where('success', '=', false)
      .execute();
    assert.deepEqual([rows.length, rows[0]?.input_tokens], [1, 0n]);
  });

  it('nothing that was answered is lost when the service stops', async () => {
    const short = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: upstream.url });
    const { db } = short.runtime;
    // Closed from outside: the count is taken after the services and before the database goes.
    const counted = Promise.withResolvers<number>();
    const close = short.runtime.close;
    short.runtime.close = async () => {
      counted.resolve((await db.system.selectFrom('usage_logs').select('id').execute()).length);
      await close();
    };
    const { key } = await addUser(short.runtime, { plan: 'network' });
    const url = `${short.backend}/v1/chat/completions`;
    await Promise.all(
      Array.from({ length: 20 }, () => send(url, 'POST', { messages: [{ role: 'user', content: 'Hi' }] }, bearer(key))),
    );
    await short.stop();
    assert.equal(await counted.promise, 20);
  });
});

describe('caps', () => {
  const BOUND_CENTS = 0.05;

  it('are set, shown and removed', async () => {
    const { key } = await addUser(services.runtime, { plan: 'solo', creditMicros: 1_000_000n });
    const empty = (await web('GET', '/api/usage/caps', undefined, key)).body;
    assert.deepEqual(
      [empty.caps, empty.tokens.used, empty.tokens.limit, empty.tokens.enforced, empty.credits],
      [[], 0, 2_000_000, false, 10],
    );
    await web('PUT', '/api/usage/caps', { scope: 'user', limitUsd: 5 }, key);
    await web('PUT', '/api/usage/caps', { scope: 'run', limitUsd: 0.5 }, key);
    const { body } = await web(
      'PUT',
      '/api/usage/caps',
      { scope: 'agent', agentId: 'a1', limitUsd: 1.25, period: 'day' },
      key,
    );
    const shown = body.caps.map(
      (cap: { scope: string; agentId: string; period: string; limitUsd: number; usedUsd: number }) => [
        cap.scope,
        cap.agentId,
        cap.period,
        cap.limitUsd,
        cap.usedUsd,
      ],
    );
    assert.deepEqual(shown, [
      ['user', null, 'month', 5, 0],
      ['run', null, 'total', 0.5, null],
      ['agent', 'a1', 'day', 1.25, 0],
    ]);
    const after = await web('PUT', '/api/usage/caps', { scope: 'user', limitUsd: null }, key);
    assert.equal(after.body.caps.length, 2);
    const limit = 'limitUsd must be a number of at least 0, or null';
    for (const [bad, error] of [
      [{ scope: 'user' }, limit],
      [{ scope: 'user', limitUsd: -1 }, limit],
      [{ scope: 'user', limitUsd: '5' }, limit],
      [{ scope: 'user', limitUsd: 1_000_001 }, 'limitUsd must be at most 1000000'],
      [{ scope: 'moon', limitUsd: 1 }, 'scope must be one of: user, agent, run, team'],
    ] as const) {
      const refused = await web('PUT', '/api/usage/caps', bad, key);
      assert.deepEqual([refused.status, refused.body], [400, { error }]);
    }
  });

  it('hold under 100 calls at once: refused before they are sent, and the sum never passes', async () => {
    const { id, key } = await addUser(services.runtime, { plan: 'network' });
    await web('PUT', '/api/usage/caps', { scope: 'user', limitUsd: BOUND_CENTS }, key);
    // As dear as the bound allows, so that a gate with a hole would let the sum pass.
    upstream.answer((request, response) =>
      replyChat(request, response, { usage: { prompt_tokens: 150, completion_tokens: 200 } }),
    );
    const replies = await Promise.all(Array.from({ length: 100 }, () => complete(key, {}, { max_tokens: 200 })));
    const served = replies.filter((reply) => reply.status === 200).length;
    const refused = replies.filter((reply) => reply.status === 429);
    assert.equal(served + refused.length, 100);
    assert.equal(upstream.requests.length, served);
    assert.ok(served > 0 && served * (150 * 5 + 200 * 15) <= BOUND_CENTS * 1_000_000, `${served} were served`);
    const { code, limit, used, resetsAt, message } = refused[0]!.body.error;
    assert.deepEqual([code, limit], ['QUOTA_EXCEEDED', BOUND_CENTS]);
    assert.ok(used <= limit && Date.parse(resetsAt) > Date.now());
    assert.match(message, /^Spend cap reached/);
    await recorded(id, served);
    const [cap] = (await web('GET', '/api/usage/caps', undefined, key)).body.caps;
    assert.ok(Math.abs(cap.usedUsd - (served * 3750) / 1_000_000) < 1e-9);
    assert.equal(cap.reservedUsd, 0);
  });

  it('a stream is capped too, and a call without a limit gets one', async () => {
    const { key } = await addUser(services.runtime, { plan: 'network' });
    await web('PUT', '/api/usage/caps', { scope: 'user', limitUsd: 0.1 }, key);
    const response = await fetch(`${services.backend}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    assert.match(await response.text(), /DONE/);
    assert.equal(upstream.requests[0]!.body['max_tokens'], 4096);
    await web('PUT', '/api/usage/caps', { scope: 'user', limitUsd: 0.01 }, key);
    assert.equal((await complete(key, {}, { stream: true })).status, 429);
  });

  it('token quotas hold when they are on', async () => {
    const strict = await startServices({
      OPENROUTER_API_KEY: 'k',
      OPENROUTER_BASE_URL: upstream.url,
      TOKEN_QUOTAS: 'on',
    });
    const headers = { 'x-user-id': 'heavy', 'x-user-plan': 'solo', 'x-billing-subscription-id': 'sub_1' };
    const chat = () =>
      send(
        `${strict.backend}/api/ai/chat`,
        'POST',
        { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 },
        { ...bearer(TEST_SECRETS.internalKey), ...headers },
      );
    upstream.answer((request, response) =>
      replyChat(request, response, { usage: { prompt_tokens: 1_999_950, completion_tokens: 10 } }),
    );
    assert.equal((await chat()).status, 200);
    const { status, body } = await chat();
    assert.equal(status, 429);
    assert.deepEqual([body.success, body.code, body.used, body.limit], [false, 'QUOTA_EXCEEDED', 1_999_960, 2_000_000]);
    await strict.stop();
  });
});
