import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createStandIn, replyChat, replyJson, type StandIn, type StandInHandler } from '@troupe/ai';
import { createBackend } from '@troupe/backend';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { closeAll, createLog } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';

/** Providers that misbehave, seen from outside: what the client is told, and what is left behind. Time-outs are tested with the layer itself. */

const KEY = 'sk-or-v1-very-secret-key';
const HEADERS = {
  authorization: `Bearer ${TEST_SECRETS.internalKey}`,
  'content-type': 'application/json',
  'x-user-plan': 'solo',
  'x-billing-subscription-id': 'sub_1',
};
const UNUSABLE = 'AI provider openrouter sent an answer that cannot be used';
const UNREACHED = 'AI provider openrouter could not be reached';

let upstream: StandIn;
let runtime: Runtime;
let backend: { close: () => Promise<void> };
let address: string;
let client = 0;
const lines: string[] = [];

before(async () => {
  upstream = await createStandIn();
  runtime = await testRuntime({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: upstream.url });
  const log = createLog({ level: 'debug', service: 'backend', destination: { write: (line) => lines.push(line) } });
  const made = await createBackend({ ...runtime, log, url: 'http://127.0.0.1:3001', version: '0.0.0-test' });
  backend = made;
  address = await made.server.listen(0, 'BACKEND_PORT');
});
beforeEach(() => {
  upstream.answer((request, response) => replyChat(request, response));
  upstream.requests.length = 0;
});
after(async () => {
  await closeAll([runtime, backend]);
  await upstream.close();
});

const PATHS = ['/api/ai/chat', '/v1/chat/completions'] as const;

function ask(path: string, body: object = {}, signal?: AbortSignal): Promise<Response> {
  client += 1;
  return fetch(address + path, {
    method: 'POST',
    signal,
    headers: { ...HEADERS, 'x-client-ip': `10.7.${client >> 8}.${client & 255}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });
}

const leak = { error: { message: `invalid key ${KEY}`, code: 500 } };
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const piece = event({ choices: [{ delta: { content: 'Half' } }] });

const BAD: [what: string, handler: StandInHandler, status: number, error: string][] = [
  ['a 500', (_, response) => replyJson(response, leak, 500), 500, 'AI provider openrouter answered 500'],
  ['a 401', (_, response) => replyJson(response, leak, 401), 500, 'AI provider openrouter answered 401'],
  ['an error inside a 200', (_, response) => replyJson(response, leak), 502, UNUSABLE],
  ['no choices', (_, response) => replyJson(response, { choices: [] }), 502, UNUSABLE],
  ['a body that is no JSON', (_, response) => void response.end('<html>'), 502, UNUSABLE],
  [
    'invalid UTF-8',
    (_, response) =>
      void response.end(
        Buffer.concat([Buffer.from('{"choices":[{"message":{"content":"'), Buffer.of(0xff), Buffer.from('"}}]}')]),
      ),
    502,
    UNUSABLE,
  ],
  ['a closed connection', (_, response) => void response.destroy(), 502, UNREACHED],
];

for (const path of PATHS)
  describe(path, () => {
    for (const [what, handler, status, error] of BAD)
      for (const stream of [false, true])
        it(`${what}${stream ? ', asked for a stream' : ''}: ${status}`, async () => {
          upstream.answer(handler);
          const response = await ask(path, { stream });
          const shaped = { message: error, type: 'server_error', code: null, param: null };
          const told = { error: path.startsWith('/v1') ? shaped : error };
          assert.deepEqual([response.status, await response.json()], [status, told]);
        });

    for (const [what, rest] of [
      ['breaks off', null],
      ['ends too soon', ''],
      ['goes on with nonsense', 'data: {"choices":\n\n'],
      ['goes on with an error', event(leak)],
      [
        'goes on with invalid UTF-8',
        Buffer.concat([Buffer.from('data: {"x":"'), Buffer.of(0xff), Buffer.from('"}\n\n')]),
      ],
    ] as const)
      it(`a stream that ${what}: what was said, then an error event, and no [DONE]`, async () => {
        const seen = Promise.withResolvers<void>();
        upstream.answer(async (_, response) => {
          response.writeHead(200).write(piece);
          await seen.promise;
          if (rest === null) response.destroy();
          else response.end(rest);
        });
        const response = await ask(path, { stream: true });
        assert.equal(response.status, 200);
        let text = '';
        for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
          text += part;
          seen.resolve();
        }
        const events = text.trim().split('\n\n');
        assert.match(events[0] ?? '', /"content":"Half"/);
        assert.match(
          events.at(-1) ?? '',
          /^data: \{"error":\{"message":"AI provider openrouter [^"]+","type":"server_error","code":502,"param":null\}\}$/,
        );
        assert.doesNotMatch(events.join(), /DONE/);
      });

    it('a client that leaves in the middle of a stream cancels upstream', async () => {
      upstream.answer((_, response) => void response.writeHead(200).write(piece));
      const abort = new AbortController();
      const response = await ask(path, { stream: true }, abort.signal);
      const reader = response.body!.getReader();
      await reader.read();
      abort.abort();
      await assert.rejects(reader.read());
      await upstream.requests[0]!.aborted;
    });
  });

it('a client that leaves is nobody’s fault: nothing is logged as one', async () => {
  upstream.answer((_, response) => void response.writeHead(200).write(piece));
  const before = lines.length;
  const abort = new AbortController();
  const response = await ask(PATHS[0], { stream: true }, abort.signal);
  await response.body!.getReader().read();
  abort.abort();
  await upstream.requests[0]!.aborted;
  // The next call is answered after everything about the last one has been done.
  upstream.answer((request, answer) => replyChat(request, answer));
  await (await ask(PATHS[0])).text();
  assert.doesNotMatch(lines.slice(before).join(''), /"level":"(error|fatal)"/);
});

it('calls under way when the service stops are told so: an answer with a status, or an event', async () => {
  const own = await testRuntime({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: upstream.url });
  const made = await createBackend({ ...own, url: 'http://127.0.0.1:3001', version: '0.0.0-test' });
  const url = await made.server.listen(0, 'BACKEND_PORT');
  const arrived = Promise.withResolvers<void>();
  upstream.answer(({ body }, response) => {
    if (body['stream'] === true) response.writeHead(200).write(piece);
    else arrived.resolve();
  });
  const call = (stream: boolean) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], stream }),
    });
  const pending = call(false);
  const streamed = await call(true);
  await arrived.promise;
  const [events, whole] = await Promise.all([streamed.text(), pending, closeAll([own, made])]);
  const { error } = (await whole.json()) as { error: { message: string } };
  assert.deepEqual([whole.status, error.message], [503, 'The service is stopping']);
  assert.match(events, /Half/);
  assert.match(
    events,
    /data: \{"error":\{"message":"The service is stopping","type":"server_error","code":503,"param":null\}\}\s*$/,
  );
});

it('after all that no socket is left over, and the provider’s key was in no answer and no line of the log', async () => {
  assert.equal((await ask(PATHS[0])).status, 200);
  assert.ok(upstream.sockets() <= 4, `${upstream.sockets()} sockets are open`);
  assert.ok(lines.length > 0);
  assert.doesNotMatch(lines.join(''), /very-secret|sk-or-v1/);
});
