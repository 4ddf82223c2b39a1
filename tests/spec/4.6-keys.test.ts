import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import OpenAI from 'openai';
import { send, type Reply } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** /v1 with the keys of users and of agents: whose account it is, and the limits, caps and quotas that hold there. */

const MODEL = 'openai/gpt-4o';
/** What one call really costs, and the most that it could: 5 and 15 USD a million tokens. */
const USAGE = { prompt_tokens: 150, completion_tokens: 200 };
const COST = (150 * 5 + 200 * 15) / 1_000_000;

let upstream: StandIn;
let services: Services;

before(async () => {
  upstream = await createStandIn();
  services = await startServices({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: upstream.url });
});
beforeEach(() => {
  upstream.answer((request, response) => replyChat(request, response, { usage: USAGE }));
  upstream.requests.length = 0;
});
after(async () => {
  await services.stop();
  await upstream.close();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const web = (key: string, method: string, path: string, body?: unknown) =>
  send(services.web + path, method, body, bearer(key));
const complete = (
  key: string,
  headers: Record<string, string> = {},
  { to = services.backend, ...given }: { to?: string; model?: string } = {},
) =>
  send(
    `${to}/v1/chat/completions`,
    'POST',
    { model: MODEL, max_tokens: 200, messages: [{ role: 'user', content: 'Hi' }], ...given },
    { ...bearer(key), ...headers },
  );
const hundred = (call: (index: number) => Promise<Reply>) =>
  Promise.all(Array.from({ length: 100 }, (_, index) => call(index)));

function split(replies: Reply[]): { served: number; refused: Reply[] } {
  const refused = replies.filter(({ status }) => status === 429);
  const served = replies.filter(({ status }) => status === 200).length;
  assert.equal(served + refused.length, replies.length);
  return { served, refused };
}

const monthEnd = () => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
};

async function usageOf(userId: string, calls: number) {
  for (;;) {
    const rows = await services.runtime.db.system
      .selectFrom('usage_logs')
      .select(['agent_id', 'run_id', 'cost_micros', 'success'])
      .where('user_id', '=', userId)
      .execute();
    if (rows.length >= calls) return rows;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a cap under 100 calls at once: the sum never passes it, and who is refused never reaches the provider', () => {
  const LIMIT = 0.05;
  const ROWS: {
    scope: string;
    set: object;
    headers: Record<string, string>;
    resets: () => string | null;
    text: string;
  }[] = [
    { scope: 'user', set: { scope: 'user' }, headers: {}, resets: monthEnd, text: 'Spend cap reached' },
    {
      scope: 'agent',
      set: { scope: 'agent', agentId: 'writer' },
      headers: { 'x-agent-id': 'writer' },
      resets: monthEnd,
      text: 'Spend cap of this agent reached',
    },
    {
      scope: 'run',
      set: { scope: 'run' },
      headers: { 'x-run-id': 'run-1' },
      resets: () => null,
      text: 'Spend cap of this run reached',
    },
  ];
  for (const { scope, set, headers, resets, text } of ROWS)
    it(`of a ${scope}`, async () => {
      const { id, key } = await addUser(services.runtime, { plan: 'network' });
      assert.equal((await web(key, 'PUT', '/api/usage/caps', { ...set, limitUsd: LIMIT })).status, 200);
      const { served, refused } = split(await hundred(() => complete(key, headers)));
      assert.equal(upstream.requests.length, served);
      assert.ok(served > 0 && served * COST <= LIMIT, `${served} were served`);
      for (const { body } of refused) {
        const { message, used, ...rest } = body.error;
        assert.deepEqual(rest, {
          type: 'rate_limit_error',
          param: null,
          success: false,
          code: 'QUOTA_EXCEEDED',
          scope,
          unit: 'usd',
          limit: LIMIT,
          resetsAt: resets(),
        });
        assert.ok(used > 0 && used <= LIMIT, `${used} used`);
        assert.equal(message, `${text}: ${used} of ${LIMIT} USD used`);
      }
      const rows = await usageOf(id, served);
      assert.equal(
        rows.reduce((sum, row) => sum + row.cost_micros, 0n),
        BigInt(Math.round(served * COST * 1_000_000)),
      );
    });

  it('another agent and another run have room of their own', async () => {
    const { key } = await addUser(services.runtime, { plan: 'network' });
    await web(key, 'PUT', '/api/usage/caps', { scope: 'agent', limitUsd: LIMIT });
    await web(key, 'PUT', '/api/usage/caps', { scope: 'run', limitUsd: LIMIT });
    const names = ['a', 'b'];
    const replies = await hundred((index) =>
      complete(key, { 'x-agent-id': names[index % 2]!, 'x-run-id': `run-${names[index % 2]}` }),
    );
    const { served } = split(replies);
    for (const half of [0, 1]) {
      const own = replies.filter(({ status }, index) => status === 200 && index % 2 === half).length;
      assert.ok(own > 0 && own * COST <= LIMIT, `${own} of ${served}`);
    }
  });
});

describe('a token quota (TOKEN_QUOTAS=on) under 100 calls at once', () => {
  it('is never passed; 429 says used, limit and when it resets', async () => {
    const strict = await startServices({
      OPENROUTER_API_KEY: 'k',
      OPENROUTER_BASE_URL: upstream.url,
      TOKEN_QUOTAS: 'on',
    });
    try {
      const { id, key } = await addUser(strict.runtime, { plan: 'solo' });
      const left = 5_000;
      const now = new Date();
      await strict.runtime.db.system
        .insertInto('usage_daily')
        .values({
          user_id: id,
          day: now.toISOString().slice(0, 10),
          agent_id: '',
          model: 'm',
          provider: 'p',
          calls: 1n,
          failures: 0n,
          input_tokens: 2_000_000n - BigInt(left),
          output_tokens: 0n,
          cost_micros: 0n,
          latency_ms: 1n,
        })
        .execute();
      const call = () => complete(key, {}, { to: strict.backend, model: 'openai/gpt-4o-mini' });
      const { served, refused } = split(await hundred(call));
      assert.equal(upstream.requests.length, served);
      assert.ok(served > 0 && served * 350 <= left, `${served} were served`);
      const { message, used, ...rest } = refused[0]!.body.error;
      assert.deepEqual(rest, {
        type: 'rate_limit_error',
        param: null,
        success: false,
        code: 'QUOTA_EXCEEDED',
        scope: 'tokens',
        unit: 'tokens',
        limit: 2_000_000,
        resetsAt: monthEnd(),
      });
      assert.equal(message, `Monthly token quota reached: ${used} of 2000000 tokens used`);
    } finally {
      await strict.stop();
    }
  });
});

describe('whose account it is', () => {
  it('a user’s key is that user, whatever the headers say', async () => {
    const { id, key } = await addUser(services.runtime, { plan: 'solo' });
    const lies = { 'x-user-id': 'somebody', 'x-user-plan': 'network', 'x-user-email': 'boss@example.org' };
    const refused = await complete(key, lies);
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'MODEL_RESTRICTED']);
    assert.equal((await complete(key, lies, { model: 'openai/gpt-4o-mini' })).status, 200);
    assert.equal((await usageOf(id, 1)).length, 1);
  });

  it('the key of a deleted user, or one that was deleted, opens nothing', async () => {
    const gone = await addUser(services.runtime, { plan: 'solo' });
    assert.equal((await complete(gone.key, {}, { model: 'openai/gpt-4o-mini' })).status, 200);
    await services.runtime.db.system.deleteFrom('users').where('id', '=', gone.id).execute();
    const kept = await addUser(services.runtime, { plan: 'solo' });
    const [{ id }] = (await web(kept.key, 'GET', '/api/keys')).body.keys;
    await web(kept.key, 'DELETE', `/api/keys/${id}`);
    for (const key of [gone.key, kept.key])
      for (const reply of [
        await complete(key),
        await send(`${services.backend}/v1/models`, 'GET', undefined, bearer(key)),
      ])
        assert.deepEqual([reply.status, reply.body.error.message], [401, 'Unauthorized']);
  });

  it('the official client works with the internal key too: every model, charged to whom the headers name', async () => {
    const { id } = await addUser(services.runtime, {});
    const openai = new OpenAI({
      baseURL: `${services.backend}/v1`,
      apiKey: TEST_SECRETS.internalKey,
      maxRetries: 0,
      defaultHeaders: { 'x-user-id': id, 'x-agent-id': 'a1', 'x-run-id': 'r1' },
    });
    const { choices } = await openai.chat.completions.create({
      model: 'claude-opus-4-6',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    assert.equal(choices[0]?.message.content, 'Hello from the provider.');
    assert.ok((await openai.models.list()).data.length > 7);
    const [row] = await usageOf(id, 1);
    assert.deepEqual([row?.agent_id, row?.run_id, row?.success], ['a1', 'r1', true]);
  });
});

describe('an agent’s gateway token behind sk_', () => {
  let owner: TestUser;
  let agentId: string;
  let key: string;
  before(async () => {
    owner = await addUser(services.runtime, { plan: 'collective' });
    agentId = (await web(owner.key, 'POST', '/api/agents/provision', { name: 'Ada' })).body.agent.id;
    key = `sk_${(await web(owner.key, 'GET', `/api/agents/${agentId}/token`)).body.token}`;
    assert.match(key, /^sk_[0-9a-f]{64}$/);
  });

  it('thinks on its owner’s account and under its own id, within the plan', async () => {
    assert.equal((await complete(key, { 'x-agent-id': 'another', 'x-user-id': 'another' })).status, 200);
    const [row] = await usageOf(owner.id, 1);
    assert.deepEqual([row?.agent_id, row?.cost_micros], [agentId, BigInt(COST * 1_000_000)]);
    const refused = await complete(key, {}, { model: 'claude-opus-4-6' });
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'MODEL_RESTRICTED']);
    const models = await send(`${services.backend}/v1/models`, 'GET', undefined, bearer(key));
    assert.equal(models.body.data.length, 5);
  });

  it('is held by the agent’s cap', async () => {
    await web(owner.key, 'PUT', '/api/usage/caps', { scope: 'agent', agentId, limitUsd: COST });
    const refused = await complete(key);
    const { message, type: _, param: __, ...details } = refused.body.error;
    assert.deepEqual([refused.status, details.scope, details.limit], [429, 'agent', COST]);
    const chat = await web(owner.key, 'POST', '/api/chat', { agentId, message: 'Hello' });
    assert.deepEqual([chat.status, chat.body], [429, { error: message, ...details }]);
    await web(owner.key, 'PUT', '/api/usage/caps', { scope: 'agent', agentId, limitUsd: null });
  });

  it('opens nothing else', async () => {
    for (const path of ['/api/settings', '/api/keys', '/api/usage/summary'])
      assert.equal((await web(key, 'GET', path)).status, 401, path);
    const ai = await send(`${services.backend}/api/ai/models`, 'GET', undefined, bearer(key));
    assert.deepEqual([ai.status, ai.body], [403, { error: 'Forbidden' }]);
  });

  it('is worth nothing while the agent is stopped, and after it is deleted', async () => {
    const status = async () => (await complete(key)).status;
    await web(owner.key, 'POST', `/api/instance/${agentId}/stop`);
    assert.equal(await status(), 401);
    await web(owner.key, 'POST', `/api/instance/${agentId}/start`);
    assert.equal(await status(), 200);
    await web(owner.key, 'DELETE', `/api/agents/${agentId}`);
    assert.equal(await status(), 401);
  });
});

describe('limits', () => {
  it('600 calls a minute for a user, all keys together; another user and the internal key go on', async () => {
    const user = await addUser(services.runtime, { plan: 'solo' });
    const models = (key: string) =>
      fetch(`${services.backend}/v1/models`, { headers: bearer(key) }).then(async (response) => {
        await response.arrayBuffer();
        return response;
      });
    for (let round = 0; round < 12; round += 1)
      for (const { status } of await Promise.all(Array.from({ length: 50 }, () => models(user.key))))
        assert.equal(status, 200);
    const refused = await complete(user.key, {}, { model: 'openai/gpt-4o-mini' });
    assert.deepEqual([refused.status, refused.body.error.message], [429, 'AI rate limit exceeded.']);
    assert.equal((await models(user.key)).headers.get('ratelimit-limit'), '600');
    const other = await addUser(services.runtime, { plan: 'solo' });
    assert.equal((await models(other.key)).status, 200);
    const internal = await models(TEST_SECRETS.internalKey);
    assert.deepEqual([internal.status, internal.headers.get('ratelimit-limit')], [200, null]);
  });
});
