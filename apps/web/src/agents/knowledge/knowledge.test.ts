import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Job } from '@troupe/contract';
import type { Jobs } from '@troupe/db';
import { createOutbound, createWorkerPool } from '@troupe/kernel';
import { docx, pdf } from '@troupe/testing/documents/documents';
import { sql } from 'kysely';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';
import { workOnDocuments } from './reading.ts';

/** Documents through the front door: sent, read by jobs, found, and gone. */

let web: TestWeb;
let ada: Person;
let bob: Person;
before(async () => {
  web = await testWeb();
  ada = await signedIn(web, { plan: 'solo' });
  bob = await signedIn(web, { plan: 'solo' });
});
after(() => web.stop());

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
async function ask(method: Method, url: string, payload?: object, who = ada) {
  const answer = await web.server.app.inject({ method, url, ...(payload && { payload }), headers: who.headers });
  return { status: answer.statusCode, body: answer.json() };
}
async function upload(collection: string, name: string, bytes: Buffer, who = ada) {
  const answer = await web.server.app.inject({
    method: 'POST',
    url: `/api/knowledge/${collection}/documents/file?name=${encodeURIComponent(name)}`,
    payload: bytes,
    headers: { ...who.headers, 'content-type': 'application/octet-stream' },
  });
  return { status: answer.statusCode, body: answer.json() };
}
const made = async (name: string, who = ada): Promise<string> =>
  (await ask('POST', '/api/knowledge', { name }, who)).body.id;
const found = async (query: string, collection?: string, who = ada): Promise<string[]> => {
  const only = collection === undefined ? '' : `&collection=${collection}`;
  const { status, body } = await ask(
    'GET',
    `/api/knowledge/search?query=${encodeURIComponent(query)}${only}`,
    undefined,
    who,
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body.passages.map(({ text }: { text: string }) => text);
};
/** Until nothing waits to be read or to be taken out. */
async function jobsRan(): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from knowledge_documents where state in ('waiting', 'removed') limit 1`.execute(
      web.deps.db.system,
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const rowsOf = async (table: 'knowledge_postings' | 'knowledge_passages' | 'knowledge_sources'): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(table)}`.execute(
    web.deps.db.system,
  );
  return rows[0]!.n;
};

test('a document is sent, read, found and shown with what stands around it', async () => {
  const id = await made('Harbour');
  const file = docx(
    ['Fees', 'Heading1'],
    'Small boats pay five crowns a night.',
    ['Opening', 'Heading1'],
    'Open from May to September.',
  );
  const { status, body: sent } = await upload(id, 'rules.docx', file);
  assert.deepEqual([status, sent.state, sent.name], [201, 'waiting', 'rules.docx']);
  await jobsRan();
  const { body: read } = await ask('GET', `/api/knowledge/documents/${sent.id}`);
  assert.deepEqual([read.state, read.kind, read.passages, read.error], ['ready', 'docx', 2, null]);
  assert.deepEqual(await found('what does a boat pay?'), ['Small boats pay five crowns a night.']);
  const { body } = await ask('GET', `/api/knowledge/documents/${sent.id}/passages/1?around=1`);
  assert.deepEqual(
    body.passages.map(({ index, heading }: { index: number; heading: string }) => [index, heading]),
    [
      [0, 'Fees'],
      [1, 'Opening'],
    ],
  );
  const [collection] = (await ask('GET', '/api/knowledge')).body.collections;
  assert.deepEqual([collection.documents, collection.passages, collection.waiting], [1, 2, 0]);
  assert.equal(await rowsOf('knowledge_sources'), 0, 'the bytes go when they are read');
  await ask('DELETE', `/api/knowledge/${id}`);
});

test('the rarer word counts more, and a text that stands twice is found once', async () => {
  const id = await made('Rank');
  for (const text of ['the boat and the boat', 'a boat with a sextant', 'a boat with a mast', 'a boat with a mast'])
    await ask('POST', `/api/knowledge/${id}/documents`, { text, name: 'note' });
  await jobsRan();
  assert.equal((await found('boat sextant', id))[0], 'a boat with a sextant');
  assert.equal((await found('boat mast', id)).filter((text) => text.endsWith('mast')).length, 1);
  await ask('DELETE', `/api/knowledge/${id}`);
});

test('a document that cannot be read says why, and others are read', async () => {
  const id = await made('Bad');
  const sent = [
    await upload(id, 'locked.pdf', pdf(['x'], '/Encrypt 9 0 R')),
    await upload(id, 'wrong.pdf', Buffer.from('plain')),
    await upload(id, 'good.txt', Buffer.from('a compass')),
  ];
  await jobsRan();
  const states = await Promise.all(sent.map(({ body }) => ask('GET', `/api/knowledge/documents/${body.id}`)));
  assert.deepEqual(
    states.map(({ body }) => [body.state, body.error]),
    [
      ['failed', 'The PDF is locked by a password: its text cannot be read.'],
      ['failed', 'The name says a PDF, and the file is text.'],
      ['ready', null],
    ],
  );
  assert.equal((await upload(id, 'none.txt', Buffer.alloc(0))).status, 400);
  // The guarded client reaches nothing of our own network.
  const page = await ask('POST', `/api/knowledge/${id}/documents`, { url: 'http://127.0.0.1:1/', everyHours: 24 });
  await jobsRan();
  const { body } = await ask('GET', `/api/knowledge/documents/${page.body.id}`);
  assert.deepEqual([body.state, body.error], ['failed', 'The page cannot be fetched: Target address not allowed.']);
  assert.ok(body.nextReadAt > body.readAt);
  await ask('DELETE', `/api/knowledge/${id}`);
});

test('what is deleted is found no more at once, and leaves nothing behind; what stands beside it stays', async () => {
  const id = await made('Gone');
  const one = await ask('POST', `/api/knowledge/${id}/documents`, {
    text: 'anchor chain and anchor light',
    name: 'one',
  });
  await ask('POST', `/api/knowledge/${id}/documents`, { text: 'anchor rope', name: 'two' });
  await jobsRan();
  assert.equal((await found('anchor', id)).length, 2);
  assert.equal((await ask('DELETE', `/api/knowledge/documents/${one.body.id}`)).status, 200);
  assert.deepEqual(await found('anchor', id), ['anchor rope']);
  assert.equal((await ask('GET', `/api/knowledge/documents/${one.body.id}`)).status, 404);
  await jobsRan();
  assert.deepEqual(await found('anchor', id), ['anchor rope']);
  assert.deepEqual(await found('chain', id), []);
  const { body } = await ask('GET', '/api/knowledge');
  const { passages } = body.collections.find((one: { id: string }) => one.id === id);
  assert.equal(passages, 1);
  await ask('DELETE', `/api/knowledge/${id}`);
  assert.deepEqual([await rowsOf('knowledge_postings'), await rowsOf('knowledge_passages')], [0, 0]);
});

test('many at once are all found, each once', async () => {
  const id = await made('Many');
  const texts = Array.from({ length: 12 }, (_, n) => `common words and unique${n}`);
  const sent = await Promise.all(texts.map((text, n) => upload(id, `${n}.txt`, Buffer.from(text))));
  assert.ok(sent.every(({ status }) => status === 201));
  await jobsRan();
  for (const [n, text] of texts.entries()) assert.deepEqual(await found(`unique${n}`, id), [text]);
  const { body } = await ask('GET', `/api/knowledge/${id}/documents?limit=5`);
  assert.deepEqual([body.documents.length, body.total], [5, 12]);
  await ask('DELETE', `/api/knowledge/${id}`);
});

test('somebody else’s collections, documents and passages are not there', async () => {
  const id = await made('Mine');
  const { body: document } = await ask('POST', `/api/knowledge/${id}/documents`, { text: 'secret recipe', name: 'n' });
  await jobsRan();
  assert.deepEqual(await found('secret recipe', undefined, bob), []);
  for (const [method, path, body] of [
    ['GET', `/api/knowledge/search?query=secret&collection=${id}`],
    ['GET', `/api/knowledge/${id}/documents`],
    ['PATCH', `/api/knowledge/${id}`, { name: 'x' }],
    ['POST', `/api/knowledge/${id}/documents`, { text: 'x' }],
    ['GET', `/api/knowledge/documents/${document.id}`],
    ['GET', `/api/knowledge/documents/${document.id}/passages/0`],
    ['DELETE', `/api/knowledge/documents/${document.id}`],
    ['DELETE', `/api/knowledge/${id}`],
  ] as const)
    assert.equal((await ask(method, path, body, bob)).status, 404, `${method} ${path}`);
  assert.equal((await upload(id, 'x.txt', Buffer.from('x'), bob)).status, 404);
  assert.equal((await found('secret', id)).length, 1);
  assert.equal(
    (await ask('POST', '/api/knowledge', { name: 'Mine' })).body.error,
    'You have a collection of this name',
  );
  assert.equal((await ask('PATCH', `/api/knowledge/${id}`, { name: 'Ours' })).body.name, 'Ours');
  await ask('DELETE', `/api/knowledge/${id}`);
});

/** A worker of its own, run by hand: what a process does that takes a job over. */
function workerOf(allowLoopback = true) {
  const pool = createWorkerPool();
  const outbound = createOutbound({ allowLoopback });
  let run: ((data: { userId: string; documentId: string }, job: { tries: number }) => Promise<void>) | undefined;
  const sent: Date[] = [];
  const jobs = {
    work: (_: Job, handler: unknown) => void (run = handler as typeof run),
    send: async (...[, , , options]: Parameters<Jobs['send']>) => {
      sent.push(options?.startAfter as Date);
      return null;
    },
  } as unknown as Jobs;
  let now = Date.now();
  workOnDocuments({ db: web.deps.db, jobs, pool, outbound, clock: () => new Date(now) });
  return {
    read: (documentId: string) => run!({ userId: ada.id, documentId }, { tries: 1 }),
    sent,
    later: (hours: number) => void (now += hours * 3_600_000),
    close: async () => {
      await pool.close();
      await outbound.close();
    },
  };
}

test('a page is read again when its time has come; what changed is found, what is gone is not', async (t) => {
  let page = '<h1>Tide</h1><p>High at noon.';
  let status = 200;
  const server = createServer((_, response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end(page),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const worker = workerOf();
  t.after(worker.close);
  const id = await made('Pages');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { body: document } = await ask('POST', `/api/knowledge/${id}/documents`, { url, everyHours: 24 });
  await jobsRan();
  await sql`update knowledge_documents set state = 'waiting' where id = ${document.id}`.execute(web.deps.db.system);
  await worker.read(document.id);
  assert.deepEqual(await found('tide', id), ['High at noon.']);
  assert.equal(worker.sent.length, 1, 'and the next time is set');
  page = '<h1>Tide</h1><p>High at midnight.';
  await worker.read(document.id);
  assert.deepEqual(await found('tide', id), ['High at noon.'], 'not before its time');
  worker.later(25);
  await worker.read(document.id);
  assert.deepEqual([await found('midnight', id), await found('noon', id)], [['High at midnight.'], []]);
  status = 500;
  worker.later(25);
  await worker.read(document.id);
  const { body: after500 } = await ask('GET', `/api/knowledge/documents/${document.id}`);
  assert.deepEqual([after500.state, after500.error], ['ready', 'The page cannot be fetched: it answered 500.']);
  assert.deepEqual(await found('midnight', id), ['High at midnight.'], 'what was read stays');
  await ask('DELETE', `/api/knowledge/${id}`);
});

test('however often it is said when a page is read again, one job waits for it', async () => {
  const id = await made('Often');
  const url = 'http://127.0.0.1:1/';
  const { body: document } = await ask('POST', `/api/knowledge/${id}/documents`, { url });
  await jobsRan();
  for (let hours = 1; hours <= 10; hours += 1)
    await ask('PATCH', `/api/knowledge/documents/${document.id}`, { everyHours: hours });
  const { rows } = await web.deps.db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    return sql<{ waiting: number }>`select count(*)::integer as waiting from pgboss.job
      where data ->> 'documentId' = ${document.id} and state < 'active'`.execute(tx);
  });
  assert.equal(rows[0]?.waiting, 1);
  const { body } = await ask('GET', `/api/knowledge/documents/${document.id}`);
  assert.deepEqual([body.state, body.everyHours], ['failed', 10]);
  await ask('DELETE', `/api/knowledge/${id}`);
});

test('work that broke off is done again, and twice is once; deleted while it is read, it stays away', async (t) => {
  const worker = workerOf();
  t.after(worker.close);
  const id = await made('Broken off');
  const text = 'many words here. '.repeat(2000);
  const { body: document } = await ask('POST', `/api/knowledge/${id}/documents`, { text, name: 'long' });
  // The job of the platform, and another process that believes it has died.
  await Promise.all([worker.read(document.id), worker.read(document.id), jobsRan()]);
  const { body } = await ask('GET', `/api/knowledge/documents/${document.id}`);
  const { rows } = await sql<{
    n: number;
  }>`select count(*)::integer as n from knowledge_passages where document_id = ${document.id}`.execute(
    web.deps.db.system,
  );
  assert.deepEqual([body.state, rows[0]!.n], ['ready', body.passages]);
  const { body: other } = await ask('POST', `/api/knowledge/${id}/documents`, {
    text: 'a doomed buoy',
    name: 'doomed',
  });
  await Promise.all([worker.read(other.id), ask('DELETE', `/api/knowledge/documents/${other.id}`)]);
  assert.deepEqual(await found('doomed buoy', id), []);
  await jobsRan();
  await Promise.all([worker.read(document.id), ask('DELETE', `/api/knowledge/${id}`)]);
  assert.deepEqual([await rowsOf('knowledge_postings'), await rowsOf('knowledge_passages')], [0, 0]);
});
