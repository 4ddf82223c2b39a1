import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { createTalk } from './talk.ts';
import type { Heard, Talk } from './talk.ts';

/** A platform as the widget sees one: each path answers as the test says. */
let answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {};
const server = createServer((request, response) => {
  const path = new URL(request.url ?? '', 'http://x').pathname.replace('/api/widgets/key/', '');
  const answer = answers[path];
  if (answer) answer(request, response);
  else response.writeHead(404).end('{"error":"Widget not found"}');
});
let base = '';
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

let kept: string | undefined;
let talk: Talk;
beforeEach(() => {
  answers = {};
  kept = undefined;
  talk = createTalk({ base, key: 'key', kept: { read: () => kept, write: (token) => (kept = token) } });
});

const json = (status: number, body: object) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const visitor = (token: string) => json(200, { token, theme: {}, handsOver: false, state: 'agent', hasTalked: false });

/** What is heard, in order, until the chat is closed. */
function hear(): Promise<unknown[]> {
  const said: unknown[] = [];
  return new Promise((resolve) => {
    const note =
      (name: keyof Heard) =>
      (...given: unknown[]): void => {
        said.push([name, ...given]);
        if (name === 'closed') resolve(said);
      };
    const names = ['message', 'delta', 'end', 'waits', 'state', 'closed', 'anew'] as const;
    talk.listen(Object.fromEntries(names.map((name) => [name, note(name)])) as unknown as Heard);
  });
}

test('events are heard in order, however they are cut into pieces', async () => {
  const text =
    ': hello\n\nevent: state\ndata: {"state":"agent"}\n\nid: 4\nevent: message\ndata: {"role":"agent","text":"Grüße\u2028!"}\n\n' +
    'event: delta\ndata: {"text":"a","fresh":true}\n\nevent: ping\ndata: {}\n\nevent: end\ndata: {}\n\nevent: closed\ndata: {"text":"Over"}\n\n';
  answers['events'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    response.end();
  };
  assert.deepEqual(await hear(), [
    ['anew'],
    ['state', 'agent'],
    ['message', 'agent', 'Grüße\u2028!'],
    ['delta', 'a', true],
    ['end', undefined],
    ['closed', 'Over'],
  ]);
});

test('after a break it goes on from what was heard last', async () => {
  const asked: unknown[] = [];
  answers['events'] = (request, response) => {
    asked.push(request.headers['last-event-id']);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1) response.end('id: 7\nevent: message\ndata: {"role":"agent","text":"one"}\n\n');
    else response.end('event: closed\ndata: {"text":"Over"}\n\n');
  };
  assert.deepEqual(await hear(), [['anew'], ['message', 'agent', 'one'], ['closed', 'Over']]);
  assert.deepEqual(asked, [undefined, '7']);
});

test('a widget that is not there is said once, and not asked for again', async () => {
  assert.deepEqual(await hear(), [['closed', 'Widget not found']]);
});

test('who is unknown by now is somebody new, and says it once more', async () => {
  const shown: unknown[] = [];
  kept = 'old';
  talk = createTalk({ base, key: 'key', kept: { read: () => kept, write: (token) => (kept = token) } });
  answers['visitors'] = visitor('new');
  answers['messages'] = (request, response) => {
    shown.push(request.headers.authorization);
    json(shown.length === 1 ? 401 : 200, shown.length === 1 ? { error: 'Unknown visitor' } : { text: null })(
      request,
      response,
    );
  };
  assert.equal(await talk.say('hello', 'm1'), null);
  assert.deepEqual([shown, kept], [['Bearer old', 'Bearer new'], 'new']);
});

test('what the platform refuses is said in its words; what is no platform, in ours', async () => {
  answers['messages'] = json(429, { error: 'Too many messages' });
  await assert.rejects(talk.say('hello', 'm1'), /^Error: Too many messages$/);
  answers['messages'] = (_request, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>');
  await assert.rejects(talk.say('hello', 'm2'), /The connection is lost/);
  answers['messages'] = (request) => request.destroy();
  await assert.rejects(talk.say('hello', 'm3'), /The connection is lost/);
});
