import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, replyJson, type StandIn, type StandInHandler } from '@troupe/ai';
import { elsewhere, send, type Body } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** Documents by meaning, over a server of embeddings that does as it is told. */

const MODEL = 'openai/text-embedding-3-small';
const SAME: Record<string, string> = { automobile: 'car', vehicle: 'car', purchase: 'buy', acquired: 'buy' };

/** A stand-in for a model: words that mean the same stand at the same place. */
function numbersOf(text: string, dimension: number): number[] {
  const numbers = Array.from({ length: dimension }, () => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    let hash = 7;
    for (const letter of SAME[word] ?? word) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_003;
    numbers[hash % dimension]! += 1;
    numbers[(hash * 7) % dimension]! -= 0.5;
  }
  return numbers.map((one, index) => one + 0.001 * (index + 1));
}

const embedding =
  (dimension: number): StandInHandler =>
  (request, response) => {
    if (!request.path.endsWith('/embeddings')) return replyChat(request, response);
    const data = (request.body['input'] as string[]).map((text, index) => ({
      object: 'embedding',
      index,
      embedding: numbersOf(text, dimension),
    }));
    replyJson(response, { object: 'list', data, usage: { prompt_tokens: 10 * data.length } });
  };

/** Answers an embeddings call with this; everything else as usual. */
const badly =
  (answer: (input: string[]) => unknown, status = 200): StandInHandler =>
  (request, response) => {
    if (!request.path.endsWith('/embeddings')) return replyChat(request, response);
    const body = answer(request.body['input'] as string[]);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

let services: Services;
let model: StandIn;
let ada: TestUser;
let bob: TestUser;
before(async () => {
  model = await createStandIn(embedding(64));
  services = await startServices({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url, TRUST_PROXY: '1' });
  ada = await addUser(services.runtime, { plan: 'solo' });
  bob = await addUser(services.runtime, { plan: 'solo' });
});
after(async () => {
  await services.stop();
  await model.close();
});

const ask = async (method: string, path: string, body?: unknown, who = ada): Promise<Body> =>
  (await send(services.web + path, method, body, { authorization: `Bearer ${who.key}`, 'x-client-ip': elsewhere() }))
    .body;
const collection = async (id: string, who = ada): Promise<Body> =>
  (await ask('GET', '/api/knowledge', undefined, who)).collections.find((one: Body) => one.id === id);

async function until(check: () => Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; !(await check()); tries += 1) {
    assert.ok(tries < 600, what);
    await delay(50);
  }
}

async function collected(name: string, texts: readonly string[], who = ada): Promise<string> {
  const { id } = await ask('POST', '/api/knowledge', { name }, who);
  for (const [n, text] of texts.entries())
    await ask('POST', `/api/knowledge/${id}/documents`, { name: `${n}.txt`, text }, who);
  await until(async () => (await collection(id, who)).waiting === 0, 'documents are read');
  return id;
}

const found = async (query: string, id: string, who = ada): Promise<string[]> =>
  (
    await ask('GET', `/api/knowledge/search?query=${encodeURIComponent(query)}&collection=${id}`, undefined, who)
  ).passages.map(({ text }: Body) => text);
const embeddingCalls = (): number => model.requests.filter(({ path }) => path.endsWith('/embeddings')).length;
const choose = (id: string, embeddings: string | null, who = ada) =>
  ask('PATCH', `/api/knowledge/${id}`, { embeddings }, who);
const whole = (id: string, passages: number, who = ada) =>
  until(async () => (await collection(id, who)).embedded === passages, `${passages} passages are embedded`);

const TEXTS = ['She acquired an automobile last spring.', 'The bakery opens at seven.', 'Rain is expected on Monday.'];

test('nothing is sent before a model is chosen; then a passage is found by what it means, and each user pays for the own', async () => {
  const mine = await collected('mine', TEXTS);
  const his = await collected('his', ['He has a secret automobile.'], bob);
  assert.deepEqual(await found('buy a car', mine), []);
  assert.equal(embeddingCalls(), 0);
  await choose(mine, MODEL);
  await whole(mine, 3);
  assert.equal((await collection(mine)).meaningNote, null);
  assert.equal((await found('buy a car', mine))[0], TEXTS[0]);
  assert.equal((await found('bakery', mine))[0], TEXTS[1], 'words count as before');
  const sent = model.requests.filter(({ path }) => path.endsWith('/embeddings'));
  assert.ok(!JSON.stringify(sent.map(({ body }) => body)).includes('secret'), 'nothing of somebody else');
  await choose(his, MODEL, bob);
  await whole(his, 1, bob);
  assert.deepEqual(await found('vehicle', his, bob), ['He has a secret automobile.']);
  const all: Body = await ask('GET', '/api/knowledge/search?query=vehicle');
  assert.ok(!JSON.stringify(all).includes('secret'), 'nothing of somebody else is found');
  await until(async () => {
    const rows = await services.runtime.db.system
      .selectFrom('usage_logs')
      .select('user_id')
      .distinct()
      .where('model', '=', MODEL)
      .execute();
    return rows.length === 2;
  }, 'both have paid');
  // A document that comes later is embedded too, and one that goes takes its numbers with it.
  const { id: later } = await ask('POST', `/api/knowledge/${mine}/documents`, { text: 'A vehicle stands outside.' });
  await whole(mine, 4);
  await ask('DELETE', `/api/knowledge/documents/${later}`);
  await whole(mine, 3);
  await choose(mine, null);
  await until(async () => (await collection(mine)).embedded === 0, 'numbers are dropped');
  const before = embeddingCalls();
  assert.deepEqual(await found('buy a car', mine), []);
  assert.equal(embeddingCalls(), before, 'no question is sent either');
});

test('a model of another dimension is never compared with the one before: the collection is indexed anew', async () => {
  const id = await collected('grows', TEXTS);
  await choose(id, MODEL);
  await whole(id, 3);
  model.answer(embedding(96));
  // The question has other numbers now: it is searched by words, and the owner is told.
  assert.deepEqual(await found('bakery', id), [TEXTS[1]]);
  await whole(id, 3);
  await until(async () => (await found('buy a car', id))[0] === TEXTS[0], 'by meaning again');
  for (const dimension of [64, 96, 64, 96]) {
    model.answer(embedding(dimension));
    await found('bakery', id);
    // The next change is seen when the passages have their numbers again.
    await until(async () => {
      const { embedded, meaningNote } = await collection(id);
      return embedded === 3 || /keeps changing/.test(meaningNote ?? '');
    }, 'indexed anew');
  }
  await until(async () => /keeps changing/.test((await collection(id)).meaningNote ?? ''), 'it is given up');
  const before = embeddingCalls();
  assert.deepEqual(await found('bakery', id), [TEXTS[1]]);
  assert.equal(embeddingCalls(), before);
  model.answer(embedding(64));
});

test('a server that answers anything is told about in a sentence, and the words go on', async () => {
  const id = await collected('hostile', TEXTS);
  const one = (numbers: unknown) => (input: string[]) => ({
    data: input.map((_, index) => ({ index, embedding: numbers })),
  });
  for (const [answer, note] of [
    [badly(one([1, 2])), /2 numbers for a text/],
    [
      badly(() => '{"data":[{"embedding":[1e999,1,1,1,1,1,1,1,1]},{"embedding":[1]},{"embedding":[1]}]}'),
      /something else than numbers/,
    ],
    [badly(one(Array.from({ length: 64 }, () => null))), /something else than numbers/],
    [badly(one(Array.from({ length: 64 }, () => 0))), /nothing but zeros/],
    [badly(one('AAAA')), /something else than numbers/],
    [badly((input) => ({ data: input.map(() => ({ index: 0, embedding: numbersOf('a', 64) })) })), /other texts/],
    [
      badly((input) => ({ data: input.map((_, n) => ({ index: n, embedding: numbersOf('a', 64 + n) })) })),
      /different numbers of values/,
    ],
    [
      badly((input) => ({ data: [...input, ...input].map((_, n) => ({ index: n, embedding: numbersOf('a', 64) })) })),
      /for 6 of 3 texts/,
    ],
    [badly(() => ({ error: { message: 'boom' } }), 500), /failed, and is asked again/],
    [badly(() => `{"data":[${'1,'.repeat(9_000_000)}1]}`), /failed, and is asked again/],
  ] as const) {
    model.answer(answer);
    await choose(id, MODEL);
    await until(async () => note.test((await collection(id)).meaningNote ?? ''), String(note));
    assert.deepEqual(await found('bakery', id), [TEXTS[1]], String(note));
  }
  model.answer(embedding(64));
  await choose(id, MODEL);
  await whole(id, 3);
  await until(async () => (await collection(id)).meaningNote === null, 'nothing is left to say');
  model.answer(() => {});
  const started = performance.now();
  assert.deepEqual(await found('bakery', id), [TEXTS[1]], 'one that never answers');
  assert.ok(performance.now() - started < 15_000);
  model.answer(embedding(64));
});
