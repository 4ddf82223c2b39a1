import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** Conversations as people keep them: named, pinned, put away, searched, branched, exported, shown to others. */

interface Step {
  seq: number;
  type: string;
  content?: string;
  outcome?: string;
  model?: string;
}

let services: Services;
let model: StandIn;
let ada: TestUser;
let bob: TestUser;
let agentId: string;

const ask = (method: string, path: string, body?: unknown, who: TestUser | null = ada) =>
  send(services.web + path, method, body, who ? { authorization: `Bearer ${who.key}` } : {});
const inAgent = (method: string, path: string, body?: unknown, who = ada) =>
  ask(method, `/api/agents/${agentId}${path}`, body, who);

async function stepsOf(sessionId: string): Promise<Step[]> {
  for (;;) {
    const { session, events } = (await inAgent('GET', `/sessions/${sessionId}`)).body;
    if (session.status !== 'open') return events;
    await delay(30);
  }
}

async function say(message: string, topic: string): Promise<string> {
  const { status, body } = await inAgent('POST', '/messages', { message, topic });
  assert.equal(status, 202, JSON.stringify(body));
  await stepsOf(body.sessionId);
  return body.sessionId;
}

const words = (steps: Step[]) =>
  steps.filter(({ type }) => type === 'user' || type === 'assistant').map(({ content }) => content);

before(async () => {
  model = await createStandIn((request, response) => {
    const messages = (request.body['messages'] ?? []) as { role: string; content: string }[];
    const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    if (asked.at(-1)?.startsWith('read') && messages.at(-1)?.role !== 'tool')
      return replyChat(request, response, {
        content: '',
        toolCalls: [{ id: 'c', name: 'list_directory', arguments: '{}' }],
      });
    const path = /^write (\S+)/.exec(asked.at(-1) ?? '')?.[1];
    if (path !== undefined && messages.at(-1)?.role !== 'tool')
      return replyChat(request, response, {
        content: '',
        toolCalls: [{ id: `w-${path}`, name: 'write_file', arguments: JSON.stringify({ path, content: 'x' }) }],
      });
    replyChat(request, response, { content: `Heard ${asked.join(', ')}` });
  });
  services = await startServices({ OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url });
  ada = await addUser(services.runtime, { plan: 'label' });
  bob = await addUser(services.runtime, { plan: 'label' });
  agentId = (await ask('POST', '/api/agents/provision', { name: 'Ada', config: { tools: ['filesystem'] } })).body.agent
    .id;
});
after(async () => {
  await services.stop();
  await model.close();
});

test('a conversation goes on from an earlier step, and all that was said stays', async () => {
  const root = await say('one', 'tree');
  await say('two', 'tree');
  const steps = await stepsOf(root);
  const second = steps.findLast(({ type }) => type === 'user')!;
  const made = await inAgent('POST', `/sessions/${root}/branches`, { at: second.seq - 1, message: 'deux', id: 'b-1' });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const branch = made.body.sessionId as string;
  assert.deepEqual(words(await stepsOf(branch)), ['one', 'Heard one', 'deux', 'Heard one, deux']);
  assert.deepEqual(words(await stepsOf(root)), ['one', 'Heard one', 'two', 'Heard one, two']);

  // Sent again it is the same one, and nothing is said twice.
  const again = await inAgent('POST', `/sessions/${root}/branches`, { at: second.seq - 1, message: 'deux', id: 'b-1' });
  assert.deepEqual([again.body.sessionId, again.body.seq], [branch, made.body.seq]);
  assert.equal((await stepsOf(branch)).length, steps.length);

  const { branches } = (await inAgent('GET', `/sessions/${branch}/branches`)).body;
  assert.deepEqual(
    branches.map(({ id, branchOf, branchAt }: Record<string, unknown>) => [id, branchOf, branchAt]),
    [
      [root, null, null],
      [branch, root, second.seq - 1],
    ],
  );
  // Of one conversation the list shows the branch that was used last.
  const listed = async () =>
    (await inAgent('GET', '/sessions?latest=true')).body.sessions.map(({ id }: { id: string }) => id);
  assert.deepEqual(await listed(), [branch]);
  await inAgent('POST', '/messages', { message: 'three', sessionId: root });
  await stepsOf(root);
  assert.deepEqual(await listed(), [root]);
  // What is copied is counted once.
  const { total } = (await inAgent('GET', '/messages?limit=1')).body;
  assert.equal(total, 8);
});

test('another model can answer, and a branch in the middle of a run closes it', async () => {
  const root = await say('read it', 'middle');
  const steps = await stepsOf(root);
  const called = steps.find(({ type }) => type === 'assistant')!;
  const { body } = await inAgent('POST', `/sessions/${root}/branches`, { at: called.seq });
  const closed = await stepsOf(body.sessionId);
  assert.deepEqual(
    closed.slice(called.seq).map(({ type, outcome }) => [type, outcome]),
    [
      ['tool_result', undefined],
      ['run_ended', 'cancelled'],
    ],
  );
  const other = await inAgent('POST', `/sessions/${root}/branches`, {
    at: 0,
    message: 'read it',
    model: 'openai/gpt-4o-mini',
  });
  const answer = (await stepsOf(other.body.sessionId)).findLast(({ type }) => type === 'assistant');
  assert.equal(answer?.model, 'openai/gpt-4o-mini');
  const told = () => {
    const last = model.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
    const messages = (last?.body['messages'] ?? []) as { content: string }[];
    return String(messages[0]?.content);
  };
  const instruction = 'You answer like a pirate.';
  const tried = await inAgent('POST', `/sessions/${root}/branches`, { at: 0, message: 'hello', instruction });
  await stepsOf(tried.body.sessionId);
  assert.match(told(), /^You answer like a pirate\./);
  // For that answer alone: the agent is what it was.
  await inAgent('POST', '/messages', { message: 'hello again', sessionId: tried.body.sessionId });
  await stepsOf(tried.body.sessionId);
  assert.doesNotMatch(told(), /pirate/);
  for (const [given, status, text] of [
    [{ at: 0, message: 'x', instruction: 'x'.repeat(50_001) }, 400, 'Instruction too long'],
    [{ at: 9999 }, 400, 'There is no step 9999'],
    [{ at: -1 }, 400, 'at must be the number of a step'],
    [{ at: 0, message: 'x', model: 'no/model' }, 400, /^There is no model no\/model/],
  ] as const) {
    const refused = await inAgent('POST', `/sessions/${root}/branches`, given);
    assert.equal(refused.status, status);
    assert.match(refused.body.error, new RegExp(text));
  }
});

test('a conversation is named, pinned, put away and deleted, with all its branches', async () => {
  const root = await say('a title of its own', 'named');
  const { body } = await inAgent('POST', `/sessions/${root}/branches`, { at: 0, message: 'another' });
  await stepsOf(body.sessionId);
  const head = async (id: string) => (await inAgent('GET', `/sessions/${id}?limit=1`)).body.session;
  assert.equal((await head(root)).title, 'a title of its own');
  const named = await inAgent('PATCH', `/sessions/${root}`, { title: 'Tour', pinned: true });
  assert.deepEqual([named.status, named.body.session.title, named.body.session.pinned], [200, 'Tour', true]);
  assert.equal((await head(body.sessionId)).title, 'Tour');
  const first = (await inAgent('GET', '/sessions?latest=true&limit=1')).body.sessions[0];
  assert.equal(first.title, 'Tour', 'pinned ones come first');
  assert.equal((await inAgent('PATCH', `/sessions/${root}`, { title: ' ' })).body.error, 'Title required');

  await inAgent('PATCH', `/sessions/${root}`, { archived: true });
  const titles = async (archived: string) =>
    (await inAgent('GET', `/sessions?latest=true&archived=${archived}`)).body.sessions.map(
      ({ title }: { title: string }) => title,
    );
  assert.deepEqual(await titles('true'), ['Tour']);
  assert.equal((await titles('false')).includes('Tour'), false);

  assert.equal((await inAgent('DELETE', `/sessions/${root}`, undefined, bob)).status, 404);
  assert.equal((await inAgent('DELETE', `/sessions/${root}`)).status, 200);
  for (const id of [root, body.sessionId]) assert.equal((await inAgent('GET', `/sessions/${id}`)).status, 404);
});

test('words are found where they were said, once, whatever they are made of', async () => {
  const root = await say('Der Zug nach KÖLN hat 100% Verspätung_', 'search');
  const { body } = await inAgent('POST', `/sessions/${root}/branches`, { at: (await stepsOf(root)).length });
  assert.ok(body.sessionId);
  const find = async (q: string, who = ada) =>
    (await inAgent('GET', `/search?${new URLSearchParams({ q })}`, undefined, who)).body;
  const { messages } = await find('köln');
  assert.deepEqual(
    messages.map(({ sessionId, role, title }: Record<string, string>) => [sessionId, role, title?.slice(0, 7)]),
    [
      [root, 'assistant', 'Der Zug'],
      [root, 'user', 'Der Zug'],
    ],
  );
  assert.match(messages[1].text, /KÖLN/);
  assert.equal((await find('100%')).messages.length, 2);
  assert.deepEqual((await find('100_ V')).messages, []);
  assert.equal((await find(' ')).error !== undefined, true);
  assert.equal((await find('köln', bob)).error, 'Agent not found');
});

test('a conversation is exported, and shown to whoever has the link until it is removed', async () => {
  const root = await say('read what is there', 'shown');
  const get = (format: string) =>
    fetch(`${services.web}/api/agents/${agentId}/sessions/${root}/export?format=${format}`, {
      headers: { authorization: `Bearer ${ada.key}` },
    });
  const markdown = await (await get('markdown')).text();
  assert.match(markdown, /^# read what is there\n\n## You · .+\n\nread what is there\n/);
  assert.match(markdown, /\*Used list_directory\*/);
  const json = (await (await get('json')).json()) as { steps: Step[]; session: { id: string } };
  assert.deepEqual([json.session.id, json.steps.length], [root, (await stepsOf(root)).length]);

  const shared = await inAgent('POST', `/sessions/${root}/share`);
  assert.equal(shared.status, 201, JSON.stringify(shared.body));
  const token = String(shared.body.url).split('/').at(-1)!;
  const read = () => ask('GET', `/api/shared/${token}`, undefined, null);
  await say('a later word', 'shown');
  const { body } = await read();
  assert.deepEqual([body.agent, body.messages.length], ['Ada', 2]);
  assert.equal(JSON.stringify(body).includes('later word'), false);
  assert.equal(JSON.stringify(body).includes('list_directory'), false);
  assert.equal((await ask('GET', `/api/shared/${'0'.repeat(64)}`, undefined, null)).status, 404);

  const { shares } = (await inAgent('GET', '/shares')).body;
  assert.equal(shares.length, 1);
  assert.equal((await inAgent('DELETE', `/shares/${shares[0].id}`, undefined, bob)).status, 404);
  assert.equal((await inAgent('DELETE', `/shares/${shares[0].id}`)).status, 200);
  assert.equal((await read()).status, 404);
});

test('a conversation says which files it is about, to its owner alone', async () => {
  const id = await say('write notes/plan.md', 'files');
  await say('write b.md', 'files');
  const { status, body } = await inAgent('GET', `/sessions/${id}/files`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.files.map(({ path, how }: { path: string; how: string }) => [path, how]),
    [
      ['b.md', 'written'],
      ['notes/plan.md', 'written'],
    ],
  );
  const [{ seq }] = body.files;
  assert.equal((await stepsOf(id)).find((step) => step.seq === seq)?.type, 'tool_result');
  assert.equal((await inAgent('GET', `/sessions/${id}/files`, undefined, bob)).status, 404);
  assert.equal((await inAgent('GET', '/sessions/none/files')).status, 404);
});
