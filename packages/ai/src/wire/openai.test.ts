import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { silentLog } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createAi } from '../ai.ts';
import type { UsageEvent } from '../meter.ts';
import { providersFrom } from '../setup.ts';
import { createStandIn, replyJson, type StandInHandler } from '../stand-in.ts';
import type { ChatDelta, ChatRequest } from '../types.ts';

const ASK: ChatRequest = { model: 'xiaomi/mimo-v2-pro', messages: [{ role: 'user', content: 'Hello' }] };
const upstream = await createStandIn();
const events: UsageEvent[] = [];
const ai = createAi({
  providers: providersFrom(testSettings({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: upstream.url })),
  catalogue: BUILT_IN_CATALOGUE,
  log: silentLog,
  meter: { reserve: () => undefined, settle: async () => {}, record: (event) => void events.unshift(event) },
});

after(async () => {
  await ai.close();
  await upstream.close();
});

describe('Gemini’s and Ollama’s ways', () => {
  const stop =
    (message: object): StandInHandler =>
    (_request, response) =>
      replyJson(response, { choices: [{ message: { role: 'assistant', ...message }, finish_reason: 'stop' }] });
  const call = (id: string | undefined, name: string, index?: number) => ({
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { name, arguments: '{}' },
  });

  it('say stop after tool calls: clients are told tool_calls', async () => {
    upstream.answer(stop({ content: null, tool_calls: [call('c1', 'add')] }));
    assert.equal((await ai.chat(ASK)).finishReason, 'tool_calls');
    upstream.answer(stop({ content: 'Done' }));
    assert.equal((await ai.chat(ASK)).finishReason, 'stop');
  });

  for (const [name, calls] of Object.entries({
    alike: [call('c1', 'add', 0), call('c2', 'sub', 0)],
    'not at all': [call('c1', 'add'), call('c2', 'sub')],
  })) {
    it(`number calls of one stream ${name}: they stay apart`, async () => {
      upstream.answer((_request, response) => {
        for (const one of calls)
          response.write(`data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [one] } }] })}\n\n`);
        response.end('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      });
      const deltas: ChatDelta[] = [];
      for await (const delta of ai.stream(ASK)) deltas.push(delta);
      assert.deepEqual(
        deltas.flatMap((delta) => delta.toolCalls ?? []).map((one) => [one.index, one.id, one.function?.name]),
        [
          [0, 'c1', 'add'],
          [1, 'c2', 'sub'],
        ],
      );
      assert.equal(deltas.at(-1)?.finishReason, 'tool_calls');
    });
  }
});

it('Gemini’s errors come in a list, and a key that it refuses is not the caller’s fault', async () => {
  const refuse = (message: string) =>
    upstream.answer((_request, response) => replyJson(response, [{ error: { code: 400, message } }], 400));
  refuse('Invalid value at "contents"');
  await assert.rejects(ai.chat(ASK), {
    status: 400,
    message: 'openrouter refused the request: Invalid value at "contents"',
  });
  refuse('API key not valid. Please pass a valid API key.');
  await assert.rejects(ai.chat(ASK), { status: 500, message: 'AI provider openrouter answered 400' });
});

describe('an error inside a choice', () => {
  for (const fault of [{ error: { message: 'overloaded', code: 502 } }, { finish_reason: 'error' }])
    for (const stream of [false, true])
      it(`${Object.keys(fault)[0]}${stream ? ' of a stream' : ''} leads to the fallback`, async () => {
        upstream.answer((request, response) => {
          const said = { content: request.body['model'] === ASK.model ? '' : 'second' };
          const bad = { ...(stream ? { delta: said } : { message: said }), finish_reason: 'stop' };
          const choices = [request.body['model'] === ASK.model ? { ...bad, ...fault } : bad];
          if (stream) response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
          else replyJson(response, { choices });
        });
        let text = '';
        if (stream) for await (const { content = '' } of ai.stream(ASK)) text += content;
        else text = (await ai.chat(ASK)).message.content ?? '';
        assert.equal(text, 'second');
      });
});

it('a refusal is what the model said', async () => {
  const refusal = 'I cannot help with that.';
  upstream.answer((request, response) =>
    request.body['stream'] === true
      ? void response.end(
          `data: ${JSON.stringify({ choices: [{ delta: { refusal }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
        )
      : replyJson(response, { choices: [{ message: { content: null, refusal }, finish_reason: 'stop' }] }),
  );
  assert.equal((await ai.chat(ASK)).message.content, refusal);
  let text = '';
  for await (const { content = '' } of ai.stream(ASK)) text += content;
  assert.equal(text, refusal);
});

it('what a model thinks is output, also where only the total has it', async () => {
  const usage = { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 };
  upstream.answer((_request, response) =>
    replyJson(response, { choices: [{ message: { content: '36' }, finish_reason: 'stop' }], usage }),
  );
  assert.deepEqual((await ai.chat(ASK)).usage, { prompt_tokens: 20, completion_tokens: 603, total_tokens: 623 });
  assert.deepEqual([events[0]?.outputTokens, events[0]?.costMicros], [603, Math.ceil(20 * 0.2 + 603 * 0.6)]);
});

describe('counts that cannot be', () => {
  for (const prompt of [-5, 0, 1e30, '12', null]) {
    it(`${prompt} tokens are estimated instead`, async () => {
      upstream.answer((_request, response) =>
        replyJson(response, {
          choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: prompt, completion_tokens: 2 },
        }),
      );
      const { usage, usageEstimated } = await ai.chat(ASK);
      assert.deepEqual([usage.prompt_tokens, usage.completion_tokens, usageEstimated], [2, 2, true]);
      assert.deepEqual([events[0]?.inputTokens, events[0]?.estimated], [2, true]);
    });
  }
});
