import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backend, validationMessage, type Endpoint } from '@troupe/contract';
import type { ChatRequest } from '../types.ts';
import { chatFace } from './chat-face.ts';
import { openaiWire } from './openai.ts';
import { responsesFace } from './responses-face.ts';
import { plain } from './testing.ts';

/** What would change the shape of an answer is refused by its name; what is a wish is passed on, or is none. */

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const RESPONSE = { model: 'm', input: 'Hi' };
const wrong = ({ body }: Endpoint, given: object): string => {
  const { error } = body!.safeParse(given);
  return error ? validationMessage(error, 'body') : 'taken';
};

const REFUSED: [endpoint: Endpoint, base: object, given: Record<string, unknown>][] = [
  [backend.v1.completeChat, CHAT, { functions: [{ name: 'f' }] }],
  [backend.v1.completeChat, CHAT, { function_call: 'auto' }],
  [backend.v1.completeChat, CHAT, { logprobs: true }],
  [backend.v1.completeChat, CHAT, { top_logprobs: 3 }],
  [backend.v1.completeChat, CHAT, { modalities: ['text', 'audio'] }],
  [backend.v1.completeChat, CHAT, { audio: { voice: 'alloy', format: 'wav' } }],
  [backend.v1.createResponse, RESPONSE, { prompt: { id: 'pmpt_1' } }],
  [backend.v1.createResponse, RESPONSE, { max_tool_calls: 3 }],
  [backend.v1.createResponse, RESPONSE, { context_management: [{ type: 'compaction' }] }],
  [backend.v1.createResponse, RESPONSE, { top_logprobs: 3 }],
];

describe('refused by its name', () => {
  for (const [endpoint, base, given] of REFUSED) {
    const [name = ''] = Object.keys(given);
    it(`${name} at ${endpoint.path}`, () => {
      assert.match(wrong(endpoint, { ...base, ...given }), new RegExp(`^${name}\\b`));
      assert.equal(wrong(endpoint, { ...base, [name]: null }), 'taken');
    });
  }

  it('but not where it says what everybody gets', () => {
    const given = { ...CHAT, logprobs: false, top_logprobs: 0, modalities: ['text'], functions: null };
    const body = backend.v1.completeChat.body!.parse(given) as never;
    assert.deepEqual(plain(chatFace.request(body)), CHAT);
    assert.equal(wrong(backend.v1.createResponse, { ...RESPONSE, top_logprobs: 0, prompt: null }), 'taken');
  });
});

it('how much is said is a wish, passed on to who takes it', () => {
  const asked = (verbosity: string): [ChatRequest, ChatRequest] => [
    chatFace.request(backend.v1.completeChat.body!.parse({ ...CHAT, verbosity }) as never),
    responsesFace.request(backend.v1.createResponse.body!.parse({ ...RESPONSE, text: { verbosity } }) as never),
  ];
  const sent = (provider: string, model: string, request: ChatRequest) =>
    openaiWire.body(provider, model, request, false)['verbosity'];
  for (const request of asked('low')) {
    assert.equal(sent('openai', 'gpt-5-mini', request), 'low');
    assert.equal(sent('openrouter', 'openai/gpt-5', request), 'low');
    assert.equal(sent('openai', 'gpt-4o', request), undefined);
    assert.equal(sent('gemini', 'gemini-2.5-pro', request), undefined);
  }
  for (const request of asked('shouting')) assert.equal(sent('openai', 'gpt-5', request), undefined);
});
