import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createSqliteStore } from '@troupe/agent';
import { createStandIn, replyChat, replyJson, type StandIn, type StandInRequest } from '@troupe/ai';
import { definitionSchema } from '@troupe/domain';
import { silentLog } from '@troupe/kernel';
import { startAgent, type StandaloneAgent } from './app.ts';
import { createFacts } from './facts.ts';
import { createMeaning } from './meaning.ts';
import { readAgentSettings } from './settings.ts';

/** Memories by meaning, and facts out of conversations, of an agent that is a program of its own. */

const MODEL = 'openai/text-embedding-3-small';
const TOKEN = 'a'.repeat(64);
const SAME: Record<string, string> = { automobile: 'car', vehicle: 'car', purchase: 'buy', acquired: 'buy' };

/** Words that mean the same stand at the same place. */
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

type Care = {
  memories: number;
  embedded: number;
  meaningNote: string | null;
  factsNote: string | null;
  found: { id: string; content: string; conversationId: string; message: number; contradicts: { id: string }[] }[];
};

let dimension = 64;
let isDown = false;
/** Of a conversation, before it is looked at. */
const REST_SECONDS = 0.5;
const turns = { meanings: 0, facts: 0 };
/** What the model says when it is asked for facts. */
let factual: (text: string) => string = () => '{"facts":[]}';
let platform: StandIn;
let agent: StandaloneAgent;
let folder: string;
const isForFacts = ({ body }: StandInRequest): boolean =>
  JSON.stringify(body['messages'] ?? '').includes('You keep the memory of an AI agent');
const factCalls = (): StandInRequest[] => platform.requests.filter(isForFacts);
const embedded = (): StandInRequest[] => platform.requests.filter((one) => one.path.endsWith('/embeddings'));

function answer(request: StandInRequest, response: Parameters<typeof replyJson>[0]): void {
  if (request.path.endsWith('/embeddings')) {
    if (isDown) return replyJson(response, { error: { message: 'The model is down' } }, 400);
    const data = (request.body['input'] as string[]).map((text, index) => ({
      object: 'embedding',
      index,
      embedding: numbersOf(text, dimension),
    }));
    return replyJson(response, { object: 'list', data, usage: { prompt_tokens: 10 } });
  }
  if (request.path === '/v1/mcp_servers') return replyJson(response, { servers: [] });
  const messages = request.body['messages'] as { role: string; content: string }[];
  if (isForFacts(request))
    return replyChat(request, response, { content: factual(messages.map(({ content }) => content).join('\n')) });
  const last = messages.at(-1);
  const [, name, args] = /^call (\w+) (.*)$/s.exec(last?.role === 'user' ? last.content : '') ?? [];
  if (name === undefined) return replyChat(request, response, { content: `I read: ${last?.content}` });
  replyChat(request, response, { content: '', toolCalls: [{ id: 'c1', name, arguments: args ?? '{}' }] });
}

const definition = (memory: object) =>
  definitionSchema.parse({
    name: 'Ada',
    tools: ['memory'],
    config: { memory, model: { default: 'openai/gpt-4o-mini' } },
  });

async function call<T = Record<string, unknown>>(method: string, where: string, body?: object): Promise<T> {
  const reply = await fetch(agent.url + where, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await reply.json()) as T;
}
/** So many more looks at its memory have come to their end. */
async function taken(of: keyof typeof turns, count: number): Promise<void> {
  const wanted = turns[of] + count;
  await until(() => turns[of] >= wanted, `${wanted} turns for ${of}`);
}
const care = (): Promise<Care> => call<Care>('GET', '/memory/care');
const set = (memory: object) => call('PUT', '/definition', definition(memory));
const remember = (key: string, content: string) => call('PUT', '/memory', { key, content });
async function say(content: string, user = 'me'): Promise<string> {
  const body = { user, messages: [{ role: 'user', content }] };
  const { choices } = await call<{ choices: { message: { content: string } }[] }>('POST', '/v1/chat/completions', body);
  return choices[0]!.message.content;
}
const found = (query: string): Promise<string> => say(`call search_memories ${JSON.stringify({ query })}`, 'asks');
async function until(check: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let n = 0; !(await check()); n += 1) {
    assert.ok(n < 400, what);
    await delay(50);
  }
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'agent-memory-'));
  platform = await createStandIn(answer);
  const settings = readAgentSettings({
    AGENT_ID: 'ada',
    GATEWAY_TOKEN: TOKEN,
    PLATFORM_URL: platform.url,
    DATA_DIR: folder,
    PORT: '0',
    HEARTBEAT: 'off',
    AGENT_DEFINITION: JSON.stringify(definition({})),
  });
  agent = await startAgent({
    settings,
    log: silentLog,
    care: { everyMs: 40, restSeconds: REST_SECONDS, onTurn: (of) => (turns[of] += 1) },
  });
});
after(async () => {
  await agent.close();
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => void (platform.requests.length = 0));

describe('memories by meaning', () => {
  test('nothing is sent before a model is chosen; then a memory is found by what it means', async () => {
    await remember('one', 'She acquired an automobile last spring.');
    await remember('two', 'The bakery opens at seven.');
    assert.match(await found('buy a car'), /Nothing is remembered/);
    await taken('meanings', 3);
    assert.equal(embedded().length, 0);
    await set({ embeddings: MODEL });
    await until(async () => (await care()).embedded === 2, 'both have numbers');
    assert.match(await found('buy a car'), /^I read: .*automobile/);
    assert.match(await found('bakery'), /bakery/);
    assert.equal(embedded()[0]!.headers['authorization'], `Bearer ${TOKEN}`, 'the platform knows whose they are');
    await remember('two', 'The bakery opens at nine.');
    await until(async () => (await care()).embedded === 2, 'the new text has numbers');
  });

  test('a model that fails is told and asked again; words go on meanwhile', async () => {
    isDown = true;
    await remember('three', 'A vehicle stands outside.');
    await until(async () => /model failed.*searched by words/.test((await care()).meaningNote ?? ''), 'it is told');
    assert.match(await found('vehicle outside'), /vehicle/);
    isDown = false;
    await until(async () => (await care()).embedded === 3, 'it is asked again');
    await until(async () => (await care()).meaningNote === null, 'nothing is left to say');
    await call('PUT', '/memory', { key: 'three', content: 'gone' });
  });

  test('another dimension is never compared with the one before; a model that keeps changing is given up', async () => {
    dimension = 96;
    assert.match(await found('bakery'), /bakery/);
    await until(async () => (await care()).embedded === 3, 'indexed anew');
    assert.match(await found('buy a car'), /automobile/);
    for (const next of [64, 96, 64]) {
      dimension = next;
      await found(`bakery ${next}`);
      await until(async () => {
        const { embedded: count, meaningNote } = await care();
        return count === 3 || /keeps changing/.test(meaningNote ?? '');
      }, `${next} numbers`);
    }
    await until(async () => /keeps changing/.test((await care()).meaningNote ?? ''), 'it is given up');
    platform.requests.length = 0;
    assert.match(await found('bakery'), /bakery/);
    await set({ embeddings: null });
    await until(async () => (await care()).embedded === 0, 'numbers are dropped');
  });

  test('whoever closes it does not wait for a model that never answers', async () => {
    const store = createSqliteStore({ file: ':memory:', agentId: 'a' });
    await store.saveDefinition(definition({ embeddings: MODEL }));
    await store.remember({ scope: 'agent', content: 'x' }, { maxEntries: 10, ttlDays: 1 });
    let asked = 0;
    const embed = (_model: string, _body: object, given?: { signal?: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        asked += 1;
        given?.signal?.addEventListener('abort', () => reject(new Error('left')));
      });
    const meaning = createMeaning({ store, ai: { embed }, log: silentLog, everyMs: 5 });
    await until(() => asked === 1, 'it is asked');
    const before = performance.now();
    await meaning.close();
    assert.ok(performance.now() - before < 1000);
    store.close();
  });
});

const numberOf = (text: string, words: string): number =>
  Number(new RegExp(`^(\\d+)\\. .*${words}`, 'm').exec(text)?.[1]);

function living(text: string): string {
  const where = /user, .*: I (?:live in|moved to) (\w+)/.exec(text)?.[1];
  if (where === undefined) return '{"facts":[]}';
  const known = numberOf(text, 'The user lives in Rome');
  const message = numberOf(text, `user, .*${where}`);
  const contradicts = where !== 'Rome' && known ? [known, 99] : [];
  return JSON.stringify({ facts: [{ fact: `The user lives in ${where}.`, message, contradicts }] });
}

describe('facts out of conversations', () => {
  test('are found when one rests, if the owner wants it: with their source, and nothing is replaced', async () => {
    factual = living;
    await say('I live in Paris.', 'before');
    // As long as a conversation rests before it is looked at.
    await delay(REST_SECONDS * 1000);
    await taken('facts', 2);
    assert.equal(factCalls().length, 0);
    await set({ facts: true });
    // The first of these may have begun before.
    await taken('facts', 2);
    await say('I live in Rome.', 'home');
    await until(async () => (await care()).found.length === 1, 'a fact is found');
    const [first] = (await care()).found;
    assert.deepEqual([first!.content, first!.message, first!.contradicts], ['The user lives in Rome.', 1, []]);
    const { sessions } = await call<{ sessions: { id: string; title: string }[] }>('GET', '/sessions');
    assert.equal(sessions.find(({ id }) => id === first!.conversationId)?.title, 'I live in Rome.');
    await say('I moved to Oslo.', 'home');
    await until(async () => (await care()).found.length === 2, 'the next is found');
    const [second, kept] = (await care()).found;
    assert.deepEqual(kept, first, 'the older one is as it was');
    assert.deepEqual(
      second!.contradicts.map(({ id }) => id),
      [first!.id],
    );
    assert.match(await found('where does the user live'), /lives in Oslo\. \(said on \d{4}-\d\d-\d\d\)/);
    const texts = factCalls().map(({ body }) => JSON.stringify(body['messages']));
    assert.ok(!texts.some((text) => text.includes('Paris')), 'what was said before is left alone');
    assert.equal(texts.filter((text) => text.includes('user, ') && /: I live in Rome/.test(text)).length, 1);
    // The owner decides.
    const decide = (id: string, keep: string) => call('POST', `/memory/facts/${id}`, { keep });
    assert.deepEqual(await decide('x', 'all'), { error: 'Fact not found' });
    assert.deepEqual(await decide(second!.id, 'none'), { error: 'keep must be this, others or all' });
    await decide(second!.id, 'this');
    assert.deepEqual(
      (await care()).found.map(({ content, contradicts }) => [content, contradicts]),
      [['The user lives in Oslo.', []]],
    );
    assert.doesNotMatch(await found('where does the user live'), /Rome/);
  });

  test('an answer that is none is told, and not asked for again', async () => {
    factual = () => 'I would rather not.';
    await say('I like pears.', 'pears');
    await until(async () => /no answer that facts could be read/.test((await care()).factsNote ?? ''), 'it is told');
    await taken('facts', 3);
    const about = factCalls().filter(({ body }) => JSON.stringify(body['messages']).includes('I like pears'));
    assert.equal(about.length, 1);
  });

  test('two that look at once write a fact once, and none where there is no room', async () => {
    const file = path.join(folder, 'twice.db');
    const stores = [createSqliteStore({ file, agentId: 'b' }), createSqliteStore({ file, agentId: 'b' })];
    const [store] = stores;
    await store!.saveDefinition(definition({ facts: true, maxEntries: 1 }));
    await store!.facts.resting({ seconds: 0, most: 1 });
    await delay(5);
    for (const [key, where] of [
      ['k', 'Rome'],
      ['l', 'Bonn'],
    ])
      await store!.deliver({
        to: { channel: 'api', key: key! },
        events: [{ type: 'user', content: `I live in ${where}.` } as never],
      });
    // Nobody works on them.
    for (const { id } of await store!.sessions({ limit: 10, offset: 0 })) {
      const lease = { owner: 'me', ttlMs: 1000 };
      const claimed = await store!.claim(id, lease);
      await store!.append(id, { owner: 'me', expected: claimed!.session.lastSeq, events: [], release: 'idle' });
    }
    let asked = 0;
    const ai = {
      chat: async (request: { messages: { content: string }[] }) => {
        asked += 1;
        await delay(100);
        const content = living(request.messages.map((one) => one.content).join('\n'));
        return { message: { content }, provider: 'x', usage: { total_tokens: 1 } } as never;
      },
      stream: () => {
        throw new Error('nobody streams');
      },
    };
    const deps = { ai: ai as never, meant: async () => undefined, isShared: false, log: silentLog };
    const both = stores.map((one) => createFacts({ ...deps, store: one, everyMs: 5, restSeconds: 0 }));
    const state = () => store!.facts.state('agent', null);
    await until(async () => /no room for 1 fact\./.test((await state()).factsNote ?? ''), 'the second has no room');
    for (const one of both) await one.close();
    assert.match((await state()).found.map(({ content }) => content).join('\n'), /^The user lives in (Rome|Bonn)\.$/);
    assert.ok(asked >= 2, `${asked} questions`);
    for (const one of stores) one.close();
  });
});
