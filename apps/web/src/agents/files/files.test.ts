import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { entriesOf } from '@troupe/kernel/archive';
import { tarGzOf, zipOf } from '@troupe/testing/backups/archives';
import { pdf } from '@troupe/testing/documents/documents';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** Files of an agent over HTTP, and files that come with a message. */

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let services: Services;
let model: StandIn;
let ada: TestUser;
let bob: TestUser;
let agentId: string;

const ask = (method: string, path: string, body?: unknown, who = ada) =>
  send(services.web + path, method, body, { authorization: `Bearer ${who.key}` });

const file = (
  method: string,
  query: Record<string, string>,
  body?: Buffer,
  who = ada,
  type = 'application/octet-stream',
) =>
  fetch(`${services.web}/api/agents/${agentId}/files/content?${new URLSearchParams(query)}`, {
    method,
    headers: { authorization: `Bearer ${who.key}`, ...(body && { 'content-type': type }) },
    ...(body && { body: new Uint8Array(body) }),
  });

async function answered(sessionId: string) {
  for (;;) {
    const { session, events } = (await ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`)).body;
    if (session.status === 'idle') return events;
    await delay(30);
  }
}

before(async () => {
  model = await createStandIn((request, response) => replyChat(request, response, { content: 'I see.' }));
  services = await startServices({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url });
  ada = await addUser(services.runtime, { plan: 'label' });
  bob = await addUser(services.runtime, { plan: 'solo' });
  const made = await ask('POST', '/api/agents/provision', { name: 'Ada', model: 'openai/gpt-4o-mini' });
  agentId = made.body.agent.id;
});
after(async () => {
  await services.stop();
  await model.close();
});

test('a file is stored, listed, read and deleted, by its owner alone', async () => {
  const stored = await file('PUT', { path: 'notes/über 1.txt' }, Buffer.from('Grüße'));
  assert.equal(stored.status, 201);
  assert.deepEqual(await stored.json(), { path: 'notes/über 1.txt', bytes: 7 });
  const { entries } = (await ask('GET', `/api/agents/${agentId}/files?path=notes`)).body;
  assert.deepEqual([entries.length, entries[0].name, entries[0].bytes], [1, 'über 1.txt', 7]);
  assert.equal(await (await file('GET', { path: 'notes/über 1.txt' })).text(), 'Grüße');

  for (const answer of [
    await file('GET', { path: 'notes/über 1.txt' }, undefined, bob),
    await file('PUT', { path: 'notes/über 1.txt' }, Buffer.from('x'), bob),
  ])
    assert.equal(answer.status, 404);
  assert.equal((await ask('DELETE', `/api/agents/${agentId}/files?path=notes`, undefined, bob)).status, 404);
  assert.equal((await ask('DELETE', `/api/agents/${agentId}/files?path=notes`)).status, 200);
  assert.equal((await file('GET', { path: 'notes/über 1.txt' })).status, 404);
});

test('what a file holds is never run: it is saved, or shown as a picture or text', async () => {
  await file('PUT', { path: 'page.html' }, Buffer.from('<script>alert(1)</script>'));
  await file('PUT', { path: 'a.png' }, PNG);
  await file('PUT', { path: 'a.constructor' }, PNG);
  for (const [query, type, disposition] of [
    [{ path: 'a.constructor', show: 'true' }, 'text/plain; charset=utf-8', /^inline/],
    [{ path: 'page.html' }, 'application/octet-stream', /^attachment/],
    [{ path: 'page.html', show: 'true' }, 'text/plain; charset=utf-8', /^inline/],
    [{ path: 'a.png', show: 'true' }, 'image/png', /^inline/],
  ] as const) {
    const answer = await file('GET', query);
    assert.equal(answer.headers.get('content-type'), type);
    assert.match(answer.headers.get('content-disposition') ?? '', disposition);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/);
    await answer.arrayBuffer();
  }
});

test('paths that lead out, folders, other types and files that are too large are refused with a sentence', async () => {
  const tell = async (answer: Response) => [answer.status, ((await answer.json()) as { error: string }).error];
  assert.deepEqual(await tell(await file('PUT', { path: '../x' }, Buffer.from('x'))), [
    400,
    '../x is outside of the workspace',
  ]);
  assert.deepEqual(await tell(await file('GET', { path: '/etc/passwd' })), [
    400,
    '/etc/passwd is outside of the workspace',
  ]);
  assert.deepEqual(await tell(await file('PUT', { path: 'x' }, Buffer.from('{}'), ada, 'application/json')), [
    400,
    'Content-Type must be application/octet-stream',
  ]);
  assert.deepEqual(await tell(await file('PUT', {}, Buffer.from('x'))), [400, 'path required']);
  const mine = await ask('POST', '/api/agents/provision', { name: 'Bob' }, bob);
  const large = await fetch(`${services.web}/api/agents/${mine.body.agent.id}/files/content?path=x`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${bob.key}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(11 * 1024 * 1024),
  });
  assert.deepEqual(await tell(large), [413, 'A file may have 10 MB at most']);
  assert.equal((await file('PUT', { path: 'empty' }, Buffer.alloc(0))).status, 201);
});

test('a PDF is told page by page and an archive by its names; what cannot be read says why', async () => {
  const look = async (path: string, bytes: Buffer) => {
    await file('PUT', { path }, bytes);
    return (await ask('GET', `/api/agents/${agentId}/files/preview?path=${path}`)).body;
  };
  const plan = pdf(['Berlin on 5 May', 'Fee: 400']);
  assert.deepEqual(await look('look/plan.pdf', plan), {
    kind: 'pdf',
    bytes: plan.length,
    pages: ['Berlin on 5 May', 'Fee: 400'],
    more: false,
  });
  const packed = await look('look/site.zip', zipOf([{ path: 'a/' }, { path: 'a/../../b.txt', content: 'hello' }]));
  assert.deepEqual(packed.entries, [
    { path: 'a/', kind: 'folder', bytes: 0 },
    { path: 'a/../../b.txt', kind: 'file', bytes: 5 },
  ]);
  assert.deepEqual([packed.kind, packed.total, packed.more], ['archive', 2, false]);
  const many = Array.from({ length: 2500 }, (_, n) => ({ path: `f${n}`, content: '' }));
  const long = await look('look/many.tgz', tarGzOf(many));
  assert.deepEqual([long.entries.length, long.total, long.more], [2000, 2500, true]);
  // 70 MB of nothing in 70 KB: more than is ever unpacked.
  const bomb = await look('look/bomb.tgz', gzipSync(Buffer.alloc(70 * 1024 * 1024)));
  assert.deepEqual([bomb.kind, bomb.note], ['archive', 'The archive holds more than 64 MB.']);
  assert.equal((await look('look/broken.zip', Buffer.from('PK\x03\x04 and no more'))).note, 'The archive is damaged.');
  assert.deepEqual(await look('look/x.bin', Buffer.from([0, 1, 2, 255])), { kind: 'other', bytes: 4, more: false });
  const other = await ask('GET', `/api/agents/${agentId}/files/preview?path=look/plan.pdf`, undefined, bob);
  assert.equal(other.status, 404);
  assert.equal((await ask('GET', `/api/agents/${agentId}/files/preview?path=look`)).body.error, 'look is not a file');
});

test('a folder comes as a zip with all that is below it, links left out', async () => {
  await file('PUT', { path: 'tour/über.txt' }, Buffer.from('Grüße'));
  await file('PUT', { path: 'tour/deep/er/x.bin' }, Buffer.alloc(100_000, 7));
  const zip = (path: string, who = ada) =>
    fetch(`${services.web}/api/agents/${agentId}/files/zip?${new URLSearchParams({ path })}`, {
      headers: { authorization: `Bearer ${who.key}` },
    });
  const answer = await zip('tour');
  assert.equal(answer.headers.get('content-type'), 'application/zip');
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename\*=UTF-8''tour\.zip$/);
  const entries = entriesOf(Buffer.from(await answer.arrayBuffer()))!;
  assert.deepEqual(entries.map(({ path }) => path).sort(), ['deep/er/x.bin', 'über.txt']);
  assert.equal(
    entries
      .find(({ path }) => path === 'über.txt')!
      .read(100)
      .toString(),
    'Grüße',
  );
  assert.equal((await zip('tour', bob)).status, 404);
  assert.equal((await zip('../..')).status, 400);
  assert.equal((await zip('nowhere')).status, 404);
});

interface Sent {
  role: string;
  content: string | { type: string; text?: string; image_url?: { url: string } }[];
}

const lastSent = (): Sent =>
  (model.requests.findLast(({ path }) => path.endsWith('/chat/completions'))!.body['messages'] as Sent[]).findLast(
    ({ role }) => role === 'user',
  )!;

test('a model that sees is shown a picture, one that does not is told its name, and text stands in the message', async () => {
  await file('PUT', { path: 'uploads/a.png' }, PNG);
  await file('PUT', { path: 'uploads/plan.txt' }, Buffer.from('Berlin on 5 May'));
  const attachments = ['uploads/a.png', 'uploads/plan.txt'];
  const say = (body: object) => ask('POST', `/api/agents/${agentId}/messages`, body);

  const first = await say({ message: 'What is this?', attachments, topic: 'seeing' });
  assert.equal(first.status, 202, JSON.stringify(first.body));
  const events = await answered(first.body.sessionId);
  assert.deepEqual(
    events[0].attachments.map(({ path, kind }: { path: string; kind: string }) => [path, kind]),
    [
      ['uploads/a.png', 'picture'],
      ['uploads/plan.txt', 'text'],
    ],
  );
  const seen = lastSent().content as Exclude<Sent['content'], string>;
  assert.match(seen[0]?.text ?? '', /What is this\?[\s\S]*uploads\/a\.png[\s\S]*Berlin on 5 May/);
  assert.equal(seen[1]?.image_url?.url, `data:image/png;base64,${PNG.toString('base64')}`);

  const second = await say({ message: 'And now?', attachments, topic: 'blind', model: 'xiaomi/mimo-v2-pro' });
  await answered(second.body.sessionId);
  assert.equal(JSON.stringify(lastSent()).includes('image_url'), false);
  assert.match(JSON.stringify(lastSent()), /attached picture: uploads\/a\.png/);

  // Once it is gone it is named, and the conversation goes on.
  await ask('DELETE', `/api/agents/${agentId}/files?path=uploads/a.png`);
  await answered((await say({ message: 'Still there?', topic: 'seeing' })).body.sessionId);
  assert.equal(lastSent().content, 'Still there?');
});

test('a message of files alone is one; without both it is none, and a file that is not there is said', async () => {
  const say = (body: object) => ask('POST', `/api/agents/${agentId}/messages`, body);
  assert.equal((await say({ message: '', attachments: ['uploads/plan.txt'] })).status, 202);
  assert.deepEqual((await say({ message: ' ' })).body.error, 'Message required');
  const missing = await say({ message: 'x', attachments: ['uploads/none.txt'] });
  assert.deepEqual([missing.status, missing.body.error], [404, 'File not found']);
  const many = await say({ message: 'x', attachments: Array.from({ length: 11 }, () => 'a') });
  assert.deepEqual([many.status, many.body.error], [400, 'At most 10 attachments']);
  const unknown = await say({ message: 'x', model: 'no/such-model' });
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.error, /^There is no model no\/such-model/);
});
