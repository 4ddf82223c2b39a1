import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createStandIn, replyChat, replyJson, type StandIn } from '@troupe/ai';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startServices, type Services } from '@troupe/testing/services/services';

const ADMIN = 'boss@example.org';
const SOLO = { 'x-user-id': 'user-1', 'x-user-plan': 'solo', 'x-billing-subscription-id': 'sub_abc123' };
const NETWORK = { ...SOLO, 'x-user-plan': 'network' };
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const DEFAULT_MODEL = 'xiaomi/mimo-v2-pro';
const FALLBACK = 'openai/gpt-4o-mini';

let upstream: StandIn;
let services: Services;
let client = 0;

interface Reply {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  body: any;
  headers: Headers;
}

/** Each call counts for an address of its own, so that limits do not mix with what is tested. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  to = services.backend,
): Promise<Reply> {
  client += 1;
  const response = await fetch(to + path, {
    method,
    headers: {
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      'x-client-ip': `10.1.${client >> 8}.${client & 255}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const chat = (body: object, headers: Record<string, string> = SOLO) => ask('POST', '/api/ai/chat', body, headers);

before(async () => {
  upstream = await createStandIn();
  services = await startServices({
    OPENROUTER_API_KEY: 'or-key',
    OPENROUTER_BASE_URL: `${upstream.url}/api/v1`,
    ADMIN_EMAILS: ADMIN,
  });
});

beforeEach(() => {
  upstream.answer((request, response) => replyChat(request, response));
  upstream.requests.length = 0;
});

after(async () => {
  await services.stop();
  await upstream.close();
});

describe('bearer key', () => {
  for (const [method, path] of [
    ['GET', '/api/ai/health'],
    ['GET', '/api/ai/models'],
    ['GET', '/api/ai/models/openrouter'],
    ['POST', '/api/ai/models/select'],
    ['POST', '/api/ai/chat'],
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/models'],
  ] as const) {
    it(`${method} ${path}: 401 without, 403 with a wrong one, before anything else`, async () => {
      const body = method === 'POST' ? {} : undefined;
      const missing = await ask(method, path, body, { authorization: '' });
      const said = ({ error }: { error: string | { message: string } }) =>
        path.startsWith('/v1') ? (error as { message: string }).message : error;
      assert.deepEqual([missing.status, said(missing.body)], [401, 'Unauthorized']);
      const wrong = await ask(method, path, body, { authorization: 'Bearer wrong' });
      assert.deepEqual([wrong.status, said(wrong.body)], [403, 'Forbidden']);
    });
  }
});

describe('GET /api/ai/health', () => {
  it('names the aggregator and whether it answers', async () => {
    const { status, body } = await ask('GET', '/api/ai/health');
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.providers], ['healthy', { openrouter: true }]);
    assert.ok(Date.parse(body.timestamp));
  });

  it('is degraded without a provider and an error when none answers', async () => {
    const bare = await startServices({ AI_SANDBOX: 'off' });
    const degraded = await ask('GET', '/api/ai/health', undefined, {}, bare.backend);
    assert.deepEqual([degraded.status, degraded.body.status], [200, 'degraded']);
    await bare.stop();
    const dead = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: 'http://127.0.0.1:9' });
    const failed = await ask('GET', '/api/ai/health', undefined, {}, dead.backend);
    assert.deepEqual([failed.status, failed.body], [503, { status: 'error', error: 'AI service unavailable' }]);
    await dead.stop();
  });
});

describe('models', () => {
  it('GET /api/ai/models lists all, with counts', async () => {
    const { status, body } = await ask('GET', '/api/ai/models');
    assert.equal(status, 200);
    assert.equal(body.count, body.models.length);
    assert.equal(
      Object.values<number>(body.providers).reduce((a, b) => a + b, 0),
      body.count,
    );
    const model = body.models.find((each: { id: string }) => each.id === FALLBACK);
    assert.deepEqual(Object.keys(model).toSorted(), [
      'available',
      'contextWindow',
      'description',
      'id',
      'inputCost',
      'name',
      'outputCost',
      'provider',
      'sees',
      'tags',
    ]);
    assert.ok(body.models.some((each: { id: string }) => each.id === 'listed-model'));
  });

  it('GET /api/ai/models/:provider lists one provider’s', async () => {
    const { body } = await ask('GET', '/api/ai/models/openrouter');
    assert.equal(body.provider, 'openrouter');
    assert.ok(body.count > 5 && body.models.every((model: { provider: string }) => model.provider === 'openrouter'));
    assert.equal((await ask('GET', '/api/ai/models/nobody')).body.count, 0);
  });

  it('POST /api/ai/models/select chooses within the plan', async () => {
    const { status, body } = await ask('POST', '/api/ai/models/select', { taskType: 'coding' }, NETWORK);
    assert.equal(status, 200);
    assert.deepEqual(
      [body.model, body.taskType],
      [{ id: 'anthropic/claude-sonnet-4.5', provider: 'openrouter' }, 'coding'],
    );
    const general = await ask('POST', '/api/ai/models/select', {}, SOLO);
    assert.deepEqual([general.body.model.id, general.body.taskType], [DEFAULT_MODEL, 'general']);
  });
});

describe('the plan middleware', () => {
  const { 'x-user-plan': _plan, ...noPlan } = SOLO;
  const { 'x-billing-subscription-id': _id, ...noSubscription } = SOLO;
  for (const [path, body] of [
    ['/api/ai/chat', { messages: MESSAGES }],
    ['/api/ai/models/select', {}],
  ] as const) {
    it(`${path}: 402 PLAN_REQUIRED`, async () => {
      for (const headers of [noPlan, { ...SOLO, 'x-user-plan': 'free' }, { ...SOLO, 'x-user-plan': 'gold' }]) {
        const reply = await ask('POST', path, body, headers);
        assert.equal(reply.status, 402);
        assert.deepEqual(reply.body, {
          success: false,
          error: 'Valid subscription required. Choose a plan at /pricing',
          code: 'PLAN_REQUIRED',
        });
      }
    });
    it(`${path}: 402 SUBSCRIPTION_REQUIRED`, async () => {
      for (const headers of [
        noSubscription,
        { ...SOLO, 'x-billing-subscription-id': 'sub_' },
        { ...SOLO, 'x-billing-subscription-id': 'cus_1' },
      ]) {
        const reply = await ask('POST', path, body, headers);
        assert.equal(reply.status, 402);
        assert.deepEqual(reply.body, {
          success: false,
          error: 'Active subscription required. Subscribe at /pricing',
          code: 'SUBSCRIPTION_REQUIRED',
        });
      }
    });
    it(`${path}: an administrator needs neither`, async () => {
      assert.equal((await ask('POST', path, body, { 'x-user-email': ADMIN.toUpperCase() })).status, 200);
      assert.equal((await ask('POST', path, body, { 'x-user-email': 'other@example.org' })).status, 402);
    });
  }

  it('403 MODEL_RESTRICTED names the models of the plan; administrators have all', async () => {
    const { status, body } = await chat({ messages: MESSAGES, model: 'openai/gpt-4o' });
    assert.equal(status, 403);
    assert.deepEqual(body, {
      success: false,
      error: 'Model openai/gpt-4o not available on your plan. Upgrade for more models.',
      code: 'MODEL_RESTRICTED',
      allowedModels: ['openai/gpt-4o-mini', 'google/gemini-2.0-flash', 'xiaomi/mimo-v2-pro'],
    });
    assert.equal((await chat({ messages: MESSAGES, model: 'claude-opus-4-6' }, { 'x-user-email': ADMIN })).status, 200);
  });

  it('on /v1 the internal key needs no plan, but one that is named counts and must be one', async () => {
    const complete = (headers: object) =>
      ask('POST', '/v1/chat/completions', { model: 'openai/gpt-4o', messages: MESSAGES }, { ...headers });
    assert.equal((await complete({})).status, 200);
    assert.equal((await complete({ 'x-user-plan': 'solo' })).body.error.code, 'MODEL_RESTRICTED');
    for (const plan of ['free', 'gold', 'Solo'])
      assert.equal((await complete({ 'x-user-plan': plan })).body.error.code, 'PLAN_REQUIRED', plan);
  });

  it('404 when no model is left', async () => {
    const bare = await startServices({ AI_SANDBOX: 'off' });
    for (const [path, body] of [
      ['/api/ai/chat', { messages: MESSAGES }],
      ['/api/ai/models/select', {}],
    ] as const) {
      const reply = await ask('POST', path, body, SOLO, bare.backend);
      assert.deepEqual([reply.status, reply.body.error], [404, 'No models available']);
    }
    await bare.stop();
  });
});

describe('POST /api/ai/chat', () => {
  it('answers', async () => {
    const { status, body } = await chat({ messages: MESSAGES });
    assert.equal(status, 200);
    assert.deepEqual([body.model, body.provider], [DEFAULT_MODEL, 'openrouter']);
    assert.deepEqual(body.message, { role: 'assistant', content: 'Hello from the provider.' });
    assert.deepEqual(body.usage, { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 });
    assert.ok(body.id && Date.parse(body.timestamp));
  });

  it('passes parameters on and ignores unknown ones', async () => {
    await chat({ messages: MESSAGES, temperature: 0.2, top_p: 0.5, max_tokens: 9, nonsense: true });
    const { model, messages, ...rest } = upstream.requests[0]!.body;
    assert.deepEqual(
      [model, messages, rest],
      [DEFAULT_MODEL, MESSAGES, { temperature: 0.2, top_p: 0.5, max_tokens: 9 }],
    );
  });

  it('names the model that served', async () => {
    upstream.answer((request, response) =>
      request.body['model'] === FALLBACK ? replyChat(request, response) : replyJson(response, {}, 500),
    );
    assert.equal((await chat({ messages: MESSAGES, model: DEFAULT_MODEL })).body.model, FALLBACK);
  });

  it('in algorithm mode prepends the seven phases, unless a system message has them', async () => {
    const phases = ['Observe', 'Think', 'Plan', 'Build', 'Execute', 'Verify', 'Learn'];
    await chat({ messages: MESSAGES, algorithmMode: true });
    const [first, ...rest] = upstream.requests[0]!.body['messages'] as { role: string; content: string }[];
    assert.equal(first?.role, 'system');
    assert.ok(phases.every((phase) => first?.content.includes(phase)));
    assert.deepEqual(rest, MESSAGES);
    const own = [{ role: 'system', content: phases.join(', ') }, ...MESSAGES];
    await chat({ messages: own, algorithmMode: true });
    assert.deepEqual(upstream.requests[1]!.body['messages'], own);
    await chat({ messages: MESSAGES });
    assert.deepEqual(upstream.requests[2]!.body['messages'], MESSAGES);
  });

  it('streams OpenAI’s chunks', async () => {
    const { status, headers, body } = await chat({ messages: MESSAGES, stream: true });
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream']);
    const events = (body as string)
      .trim()
      .split('\n\n')
      .map((event) => event.replace(/^data: /, ''));
    assert.equal(events.at(-1), '[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
    assert.equal(chunks[0].object, 'chat.completion.chunk');
    assert.equal(chunks[0].choices[0].delta.role, 'assistant');
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join(''), 'Hello from the provider.');
    assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
  });

  it('a stream that cannot start is an answer with a status, one that breaks off an error event', async () => {
    upstream.answer((_request, response) => replyJson(response, { error: 'no' }, 500));
    assert.equal((await chat({ messages: MESSAGES, stream: true })).status, 500);
    upstream.answer((_request, response) => {
      response.writeHead(200).write('data: {"choices":[{"delta":{"content":"Half"}}]}\n\n', () => response.destroy());
    });
    const { status, body } = await chat({ messages: MESSAGES, stream: true });
    assert.equal(status, 200);
    assert.match(body, /Half/);
    assert.match(body, /"error":\{"message":"AI provider openrouter sent an answer that cannot be used"/);
    assert.doesNotMatch(body, /DONE/);
  });

  it('cancels upstream when the client goes', async () => {
    const arrived = Promise.withResolvers<void>();
    upstream.answer(() => arrived.resolve());
    const abort = new AbortController();
    const pending = fetch(`${services.backend}/api/ai/chat`, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        ...SOLO,
        authorization: `Bearer ${TEST_SECRETS.internalKey}`,
        'content-type': 'application/json',
        'x-client-ip': '10.9.9.9',
      },
      body: JSON.stringify({ messages: MESSAGES }),
    });
    await arrived.promise;
    abort.abort();
    await assert.rejects(pending);
    await upstream.requests[0]!.aborted;
    assert.equal(upstream.requests.length, 1);
  });

  for (const [name, body, error] of [
    ['no messages', {}, 'Messages array is required'],
    ['messages that are no list', { messages: 'hi' }, 'Messages array is required'],
    ['an empty list', { messages: [] }, 'Messages array is required'],
    ['another role', { messages: [{ role: 'tool', content: 'x' }] }, /messages\.0\.role/],
    ['empty content', { messages: [{ role: 'user', content: '' }] }, /messages\.0\.content/],
    ['an empty part', { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }, /messages\.0\.content/],
    ['a message that is a text', { messages: ['hi'] }, /messages\.0/],
    ['a wrong temperature', { messages: MESSAGES, temperature: 'hot' }, /temperature/],
    ['too high a temperature', { messages: MESSAGES, temperature: 3 }, /temperature/],
    ['a wrong max_tokens', { messages: MESSAGES, max_tokens: 1.5 }, /max_tokens/],
    ['a wrong model', { messages: MESSAGES, model: 7 }, /model/],
    ['a wrong algorithmMode', { messages: MESSAGES, algorithmMode: 'yes' }, /algorithmMode/],
    ['wrong tools', { messages: MESSAGES, tools: [{ type: 'function' }] }, /tools\.0\.function/],
  ] as const) {
    it(`400 for ${name}`, async () => {
      const reply = await chat(body);
      assert.equal(reply.status, 400);
      if (typeof error === 'string') assert.equal(reply.body.error, error);
      else assert.match(reply.body.error, error);
      assert.equal(upstream.requests.length, 0);
    });
  }

  it('413 above one megabyte, and just below it passes', async () => {
    const content = 'x'.repeat(1_048_000);
    assert.equal((await chat({ messages: [{ role: 'user', content }] })).status, 200);
    const reply = await chat({ messages: [{ role: 'user', content: content + 'x'.repeat(2_000) }] });
    assert.deepEqual([reply.status, reply.body.error], [413, 'Request body too large']);
  });

  it('500 for a provider’s error, 502 for an answer that cannot be used', async () => {
    upstream.answer((_request, response) => replyJson(response, { error: 'secret or-key inside' }, 500));
    const refused = await chat({ messages: MESSAGES });
    assert.deepEqual([refused.status, refused.body], [500, { error: 'AI provider openrouter answered 500' }]);
    upstream.answer((_request, response) => replyJson(response, { choices: [] }));
    const broken = await chat({ messages: MESSAGES });
    assert.deepEqual(
      [broken.status, broken.body.error],
      [502, 'AI provider openrouter sent an answer that cannot be used'],
    );
  });

  it('429 after 30 a minute from one address', async () => {
    const address = { ...SOLO, 'x-client-ip': '10.200.0.1' };
    for (let index = 0; index < 30; index += 1) {
      assert.equal((await ask('GET', '/api/ai/models/nobody', undefined, address)).status, 200);
    }
    const { status, body, headers } = await chat({ messages: MESSAGES }, address);
    assert.deepEqual([status, body.error], [429, 'AI rate limit exceeded.']);
    assert.equal(headers.get('ratelimit-remaining'), '0');
  });
});

describe('the sandbox', () => {
  it('serves when no provider is configured', async () => {
    const bare = await startServices();
    const { body } = await ask('POST', '/api/ai/chat', { messages: MESSAGES }, SOLO, bare.backend);
    assert.equal(body.model, 'sandbox/echo');
    assert.match(body.message.content, /sandbox/);
    const health = await ask('GET', '/api/ai/health', undefined, {}, bare.backend);
    assert.deepEqual([health.body.status, health.body.providers], ['healthy', { openrouter: false, sandbox: true }]);
    const demo = await ask('POST', '/api/demo/chat', { message: 'Hi' }, {}, bare.web);
    assert.equal(demo.body.model, 'sandbox/echo');
    await bare.stop();
  });
});
