import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { AppError, createLog, silentLog, type Env } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createAi, type Ai } from './ai.ts';
import type { Meter, UsageEvent } from './meter.ts';
import { providersFrom } from './setup.ts';
import { createStandIn, replyChat, replyJson, type StandInHandler } from './stand-in.ts';
import type { ChatDelta, ChatRequest } from './types.ts';
import type { Timeouts } from './upstream.ts';

const KEY = 'sk-or-v1-very-secret-key';
const ASK: ChatRequest = { model: 'xiaomi/mimo-v2-pro', messages: [{ role: 'user', content: 'Hello' }] };
const FALLBACK = 'openai/gpt-4o-mini';
const SHORT: Partial<Timeouts> = { firstByte: 150, betweenBytes: 150, connect: 500 };

const upstream = await createStandIn();
const second = await createStandIn();
const events: UsageEvent[] = [];
const meter: Meter = {
  reserve: () => undefined,
  settle: async () => {},
  record: (event) => events.push(event),
};
const opened: Ai[] = [];

function makeAi(env: Env = {}, timeouts: Partial<Timeouts> = SHORT, log = silentLog): Ai {
  const settings = testSettings({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: `${upstream.url}/api/v1`, ...env });
  const ai = createAi({ providers: providersFrom(settings, timeouts), catalogue: BUILT_IN_CATALOGUE, log, meter });
  opened.push(ai);
  return ai;
}

/** Misbehaves for every model but the fallback. */
const badPrimary =
  (bad: StandInHandler): StandInHandler =>
  (request, response) =>
    request.body['model'] === FALLBACK ? replyChat(request, response, { content: 'second' }) : bad(request, response);

async function collect(
  stream: AsyncIterable<ChatDelta>,
): Promise<{ text: string; last: ChatDelta; deltas: ChatDelta[] }> {
  const deltas: ChatDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return { text: deltas.map((delta) => delta.content ?? '').join(''), last: deltas.at(-1)!, deltas };
}

beforeEach(() => {
  upstream.answer((request, response) => replyChat(request, response));
  second.answer((request, response) => replyChat(request, response));
  upstream.requests.length = 0;
  second.requests.length = 0;
  events.length = 0;
});

after(async () => {
  await Promise.all(opened.map((ai) => ai.close()));
  await Promise.all([upstream.close(), second.close()]);
});

const BAD: Record<string, StandInHandler> = {
  'a 429': (_request, response) => replyJson(response, { error: { message: 'slow down' } }, 429),
  'a 500': (_request, response) => replyJson(response, { error: 'oops' }, 500),
  'a 503 that is no JSON': (_request, response) => void response.writeHead(503).end('<html>'),
  'a body that is no JSON': (_request, response) => void response.end('{"choices":['),
  'a body that is no object': (_request, response) => void response.end('null'),
  'an error inside a 200': (_request, response) => replyJson(response, { error: { message: 'no', code: 500 } }),
  'no choices': (_request, response) => replyJson(response, { choices: [] }),
  'choices that are no list': (_request, response) => replyJson(response, { choices: 'none' }),
  'a choice without a message': (_request, response) => replyJson(response, { choices: [{}] }),
  'invalid UTF-8': (_request, response) =>
    void response.end(Buffer.concat([Buffer.from('data: {"choices":[{"delta":{"content":"'), Buffer.of(0xff, 0xfe)])),
  'an empty answer': (_request, response) => void response.end(),
  'a closed connection': (_request, response) => void response.destroy(),
  'half an answer': (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"choices"', () => response.destroy());
  },
  'silence before the first byte': () => {},
  'silence after the head': (_request, response) => response.writeHead(200).flushHeaders(),
};

describe('the fallback serves', () => {
  for (const [name, bad] of Object.entries(BAD)) {
    it(`after ${name}`, async () => {
      upstream.answer(badPrimary(bad));
      const result = await makeAi().chat(ASK);
      assert.equal(result.message.content, 'second');
      assert.equal(result.model, FALLBACK);
      assert.equal(events.length, 1);
      assert.deepEqual([events[0]?.model, events[0]?.success], [FALLBACK, true]);
    });
    it(`a stream after ${name}`, async () => {
      upstream.answer(badPrimary(bad));
      const { text, last } = await collect(makeAi().stream(ASK));
      assert.equal(text, 'second');
      assert.equal(last.model, FALLBACK);
    });
  }

  it('a stream that breaks off before it has said anything', async () => {
    upstream.answer(
      badPrimary((_request, response) => {
        response.write('data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n', () => response.destroy());
      }),
    );
    const { text, last } = await collect(makeAi().stream(ASK));
    assert.deepEqual([text, last.model], ['second', FALLBACK]);
    assert.equal(events.length, 1);
  });

  it('for the fallback itself, the primary steps in', async () => {
    upstream.answer((request, response) =>
      request.body['model'] === FALLBACK ? void response.writeHead(500).end() : replyChat(request, response),
    );
    assert.equal((await makeAi().chat({ ...ASK, model: FALLBACK })).model, 'xiaomi/mimo-v2-pro');
  });

  it('within the plan', async () => {
    upstream.answer((request, response) =>
      request.body['model'] === FALLBACK ? replyChat(request, response) : void response.writeHead(500).end(),
    );
    const result = await makeAi().chat(
      { ...ASK, model: 'google/gemini-2.0-flash' },
      { scope: { userId: 'u', plan: 'solo' } },
    );
    assert.equal(result.model, FALLBACK);
  });

  it('and the same model at another provider comes first', async () => {
    upstream.answer((_request, response) => void response.writeHead(500).end());
    const ai = makeAi({ OPENAI_API_KEY: 'sk-openai-key', OPENAI_BASE_URL: `${second.url}/v1` });
    const result = await ai.chat({ ...ASK, model: 'openai/gpt-4o' });
    assert.deepEqual([result.provider, result.model], ['openai', 'openai/gpt-4o']);
    assert.equal(second.requests[0]?.body['model'], 'gpt-4o');
    assert.equal(second.requests[0]?.headers.authorization, 'Bearer sk-openai-key');
  });
});

describe('when everything fails', () => {
  const status = async (bad: StandInHandler): Promise<AppError> => {
    upstream.answer(bad);
    const error: unknown = await makeAi()
      .chat(ASK)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    assert.ok(error instanceof AppError, String(error));
    return error;
  };

  it('an answer with a status is a 500, no usable answer a 502', async () => {
    assert.equal((await status(BAD['a 500']!)).status, 500);
    for (const name of [
      'no choices',
      'an error inside a 200',
      'silence before the first byte',
      'a closed connection',
    ]) {
      assert.equal((await status(BAD[name]!)).status, 502, name);
    }
    assert.deepEqual([events[0]?.success, events[0]?.inputTokens], [false, 0]);
  });

  it('a request that the provider finds wrong is a 400 and is not tried again', async () => {
    const error = await status((_request, response) => replyJson(response, { error: { message: 'too long' } }, 400));
    assert.equal(error.status, 400);
    assert.match(error.message, /too long/);
    assert.equal(upstream.requests.length, 1);
  });

  it('the key is in no error and no log line', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', service: 'test', destination: { write: (line) => lines.push(line) } });
    for (const code of [400, 401, 500]) {
      upstream.answer((_request, response) =>
        replyJson(response, { error: { message: `bad key ${KEY} or sk-or-v1-very**key` } }, code),
      );
      const error: unknown = await makeAi({}, SHORT, log)
        .chat(ASK)
        .catch((reason: unknown) => reason);
      log.error({ err: error }, 'failed');
    }
    assert.ok(lines.length >= 3);
    assert.doesNotMatch(lines.join(''), /very-secret|sk-or-v1/);
  });
});

describe('streams', () => {
  it('come in pieces, with usage and cost at the end', async () => {
    const { text, last, deltas } = await collect(makeAi().stream(ASK));
    assert.equal(text, 'Hello from the provider.');
    assert.ok(deltas.length >= 2);
    assert.equal(last.finishReason, 'stop');
    assert.deepEqual(last.usage, { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 });
    assert.equal(last.costMicros, Math.ceil(12 * 0.2 + 7 * 0.6));
    assert.equal(events[0]?.estimated, false);
  });

  it('come as the provider says them, and together where it says them together', async () => {
    const words = (...said: string[]) =>
      said.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).join('');
    const rest = [
      words(' two', ' three', ' four'),
      words(' five'),
      'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    ];
    let goOn = (): unknown => undefined;
    upstream.answer((_request, response) => {
      response.write(words('One'));
      goOn = () => (rest.length > 1 ? response.write(rest.shift()) : response.end(rest.shift()));
    });
    const said: (string | undefined)[] = [];
    for await (const { content } of makeAi().stream(ASK)) {
      said.push(content);
      goOn();
    }
    assert.deepEqual(said, ['One', ' two three four', ' five', undefined]);
  });

  for (const [name, rest] of [
    ['broken off', (response: { destroy: () => void }) => response.destroy()],
    ['ended too soon', (response: { end: () => void }) => response.end()],
    ['silent between two bytes', () => {}],
  ] as const) {
    it(`half a stream, ${name}: 502 after what was said`, async () => {
      upstream.answer((_request, response) => {
        response.writeHead(200).write('data: {"choices":[{"delta":{"content":"Half"}}]}\n\n', () => {
          setImmediate(() => rest(response as never));
        });
      });
      let text = '';
      await assert.rejects(
        async () => {
          for await (const delta of makeAi().stream(ASK)) text += delta.content ?? '';
        },
        { status: 502 },
      );
      assert.equal(text, 'Half');
      assert.deepEqual([events.length, events[0]?.success, events[0]?.estimated], [1, false, true]);
    });
  }

  it('a reader that leaves cancels upstream', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200).write('data: {"choices":[{"delta":{"content":"One"}}]}\n\n');
    });
    for await (const delta of makeAi({}, {}).stream(ASK)) {
      assert.equal(delta.content, 'One');
      break;
    }
    await upstream.requests[0]!.aborted;
    assert.equal(events.length, 1);
  });

  it('wait for a slow reader instead of filling memory', async () => {
    const total = 64 * 1024 * 1024;
    let written = 0;
    upstream.answer((_request, response) => {
      response.writeHead(200);
      const line = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(16_000) } }] })}\n\n`;
      const more = (): void => {
        while (written < total) {
          written += line.length;
          if (!response.write(line)) return void response.once('drain', more);
        }
        response.end('data: [DONE]\n\n');
      };
      more();
    });
    const reader = makeAi({}, {}).stream(ASK)[Symbol.asyncIterator]();
    await reader.next();
    let before = -1;
    // Settled: the provider has filled the sockets' buffers and writes no more.
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(written < total / 4, `${written} bytes were taken without a reader`);
    await reader.return?.();
  });

  it('tool calls arrive in OpenAI’s shape', async () => {
    upstream.answer((request, response) =>
      replyChat(request, response, { content: null, toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a":1}' }] }),
    );
    const { deltas, last } = await collect(makeAi().stream(ASK));
    const [call] = deltas.flatMap((delta) => delta.toolCalls ?? []);
    assert.deepEqual(call, { index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } });
    assert.equal(last.finishReason, 'tool_calls');
  });
});

describe('a call', () => {
  it('that is aborted cancels upstream and is not tried again', async () => {
    upstream.answer(() => abort.abort());
    const abort = new AbortController();
    await assert.rejects(makeAi({}, {}).chat(ASK, { signal: abort.signal }), { name: 'AbortError' });
    await upstream.requests[0]!.aborted;
    assert.equal(upstream.requests.length, 1);
    assert.ok(events[0]!.inputTokens > 0 && events[0]!.estimated);
  });

  it('that is given up while it waits at the gate is neither sent nor charged', async () => {
    const abort = new AbortController();
    const settled: unknown[] = [];
    const settings = testSettings({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: upstream.url });
    const gate: Meter = {
      ...meter,
      reserve: async () => {
        abort.abort();
        return { id: 'r1', counters: [] };
      },
      settle: async (_reservation, used) => void settled.push(used),
    };
    const ai = createAi({
      providers: providersFrom(settings),
      catalogue: BUILT_IN_CATALOGUE,
      log: silentLog,
      meter: gate,
    });
    await assert.rejects(ai.chat(ASK, { signal: abort.signal }), { name: 'AbortError' });
    assert.deepEqual([settled, events.length, upstream.requests.length], [[{ tokens: 0, micros: 0 }], 0, 0]);
    await ai.close();
  });

  it('passes parameters and tools on', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'add', parameters: { type: 'object' } } }];
    await makeAi().chat({
      ...ASK,
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['x'],
      tools,
      tool_choice: 'auto',
    });
    const { model, messages, ...rest } = upstream.requests[0]!.body;
    assert.deepEqual([model, messages], ['xiaomi/mimo-v2-pro', ASK.messages]);
    assert.deepEqual(rest, { tools, tool_choice: 'auto', temperature: 0.3, top_p: 0.9, stop: ['x'], max_tokens: 50 });
    assert.equal(upstream.requests[0]!.path, '/api/v1/chat/completions');
  });

  it('without counts from the provider is estimated and marked so', async () => {
    upstream.answer((request, response) => replyChat(request, response, { usage: null }));
    const result = await makeAi().chat(ASK);
    assert.equal(result.usageEstimated, true);
    assert.ok(result.usage.prompt_tokens > 0 && result.usage.completion_tokens > 0);
    assert.equal(events[0]?.estimated, true);
  });

  it('costs what the rates say, in whole micro-dollars', async () => {
    upstream.answer((request, response) =>
      replyChat(request, response, { usage: { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 } }),
    );
    const cost = async (model: string) => (await makeAi().chat({ ...ASK, model })).costMicros;
    assert.equal(await cost('anthropic/claude-3.5-sonnet'), 18_000_000);
    assert.equal(await cost('openai/gpt-4o-mini'), 750_000);
    assert.equal(await cost('deepseek/deepseek-r1'), 2_740_000);
    assert.equal(await cost('openrouter/xiaomi/mimo-v2-pro'), 800_000);
    assert.equal(await cost('somebody/unknown-model'), 4_000_000);
  });

  it('outside the plan is refused with the models that are in it', async () => {
    const scope = { userId: 'u', plan: 'solo' };
    await assert.rejects(makeAi().chat({ ...ASK, model: 'openai/gpt-4o' }, { scope }), {
      status: 403,
      message: 'Model openai/gpt-4o not available on your plan. Upgrade for more models.',
      extra: { success: false, code: 'MODEL_RESTRICTED', allowedModels: BUILT_IN_CATALOGUE.plans['solo'] },
    });
  });

  it('leaves no socket behind, whatever happened', async () => {
    const own = await createStandIn();
    const ai = makeAi({ OPENROUTER_BASE_URL: own.url });
    for (const bad of Object.values(BAD)) {
      own.answer(bad);
      await ai.chat(ASK).catch(() => {});
      await collect(ai.stream(ASK)).catch(() => {});
    }
    own.answer((request, response) => replyChat(request, response));
    await ai.chat(ASK);
    assert.ok(own.sockets() <= 2, `${own.sockets()} sockets are open`);
    await ai.close();
    await own.close();
  });
});
