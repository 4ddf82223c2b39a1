import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { askBackend, person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';
import { newWidget, SITE, visitorOf } from './testing.ts';

let services: Services;
let director: Director;
let ann: Person;
let agentId: string;
let widget: Body;
before(async () => {
  director = await createDirector();
  services = await startServices({
    OPENROUTER_API_KEY: 'k',
    OPENROUTER_BASE_URL: director.provider.url,
    TRUST_PROXY: '1',
  });
  ann = await person(services, { plan: 'label' });
  agentId = await provisioned(ann);
  widget = await newWidget(ann, agentId, { hosted: true });
});
after(async () => {
  await services.stop();
  await director.provider.close();
});

const visitor = (key: string = widget.publicKey, origin = SITE) => visitorOf(services.web, key, origin);
const change = async (id: string, body: object) =>
  assert.equal((await ann.ask('PATCH', `/api/agents/${agentId}/widgets/${id}`, body)).status, 200);
const isEnd = ({ event }: { event: string }) => event === 'end';

test('a visitor is answered word by word, reads it again, and stays who they are', async () => {
  const eva = visitor();
  const { theme, hasTalked, state } = await eva.come();
  assert.deepEqual([theme.title, hasTalked, state], ['Chat', false, 'agent']);
  assert.deepEqual(await eva.say('How are you?', 'm1'), { status: 202, body: { state: 'agent', text: null } });
  const stream = await eva.listen();
  await stream.until(isEnd);
  assert.deepEqual(stream.texts('visitor'), ['How are you?']);
  assert.deepEqual(stream.texts('agent'), [theme.greeting, 'ok']);
  await stream.stop();

  assert.equal((await eva.say(steps({ wait: 'slow', say: 'one two three' }))).status, 202);
  const live = await eva.listen(Number(stream.heard.at(-1)!.id));
  await director.waits('slow');
  await live.until(({ event }) => event === 'state');
  director.go('slow');
  await live.until(isEnd);
  const words = live.heard.filter(({ event }) => event === 'delta').map(({ data }) => data.text);
  assert.equal(words.join(''), 'one two three');
  assert.deepEqual(live.texts('agent'), ['one two three'], 'nothing from before Last-Event-ID');
  await live.stop();

  const again = await eva.come();
  assert.equal(again.hasTalked, true);
  assert.equal(again.token.split('.')[1], eva.token().split('.')[1]);
  assert.equal((await eva.say('How are you?', 'm1')).status, 202);
  const reread = await eva.listen();
  await reread.until(({ data }) => data.text === 'one two three');
  assert.deepEqual(reread.texts('visitor').filter((text) => text === 'How are you?').length, 1, 'taken once');
  await reread.stop();
});

test('other sites, forged, ended and foreign tokens, and other visitors’ conversations are refused', async () => {
  const other = await newWidget(ann, agentId);
  const foreign = await visitor(widget.publicKey, 'https://evil.example').ask('visitors');
  assert.deepEqual(foreign, { status: 403, body: { error: 'This site may not show the chat' } });
  const nowhere = await send(`${services.web}/api/widgets/${widget.publicKey}/visitors`, 'POST', {});
  assert.equal(nowhere.status, 403, 'a program that names no site');
  assert.equal((await visitor('pk_none').ask('visitors')).body.error, 'This chat is not available');
  const eva = visitor();
  await eva.come();
  await eva.say('a secret of mine');
  const [version, id, ends, seal] = eva.token().split('.') as [string, string, string, string];
  const bob = visitor();
  await bob.come();
  const [, bobId] = bob.token().split('.') as [string, string];
  const attempts = [
    '',
    'x',
    `${version}.${id}.${ends}.${'0'.repeat(64)}`,
    `${version}.${bobId}.${ends}.${seal}`,
    `${version}.${id}.${Number(ends) + 1}.${seal}`,
  ];
  for (const token of attempts) {
    const mallory = visitor();
    mallory.use(token);
    assert.equal((await mallory.say('hi')).status, 401, token);
    const read = await fetch(`${services.web}/api/widgets/${widget.publicKey}/events`, { headers: mallory.headers() });
    assert.equal(read.status, 401);
    await read.body?.cancel();
  }
  const wrong = visitor(other.publicKey);
  wrong.use(eva.token());
  assert.equal((await wrong.say('hi')).status, 401, 'a token of another widget');
  await bob.say('hello from bob');
  const stream = await bob.listen();
  await stream.until(isEnd);
  assert.doesNotMatch(JSON.stringify(stream.heard), /secret of mine/);
  await stream.stop();
  const stranger = await person(services, { plan: 'solo' });
  for (const [method, path] of [
    ['GET', 'widgets'],
    ['GET', 'visitors'],
    ['POST', `visitors/${id}/reply`],
  ] as const)
    assert.equal(
      (await stranger.ask(method, `/api/agents/${agentId}/${path}`, method === 'GET' ? undefined : { message: 'x' }))
        .status,
      404,
    );
});

test('a browser is told which headers it may send, and reads a refusal', async () => {
  const asked = await fetch(`${services.web}/api/widgets/${widget.publicKey}/messages`, {
    method: 'OPTIONS',
    headers: {
      origin: SITE,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  assert.equal(asked.status, 204);
  assert.equal(asked.headers.get('access-control-allow-origin'), SITE);
  assert.equal(asked.headers.get('access-control-allow-headers'), 'authorization,content-type');
  assert.equal(asked.headers.get('access-control-allow-credentials'), null, 'no cookies');
  const refused = await fetch(`${services.web}/api/widgets/${widget.publicKey}/visitors`, {
    method: 'POST',
    headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
    body: '{}',
  });
  assert.equal(refused.headers.get('access-control-allow-origin'), 'https://evil.example');
  assert.equal(refused.status, 403);
});

test('too much, too long and too large is refused with a sentence', async () => {
  const tight = await newWidget(ann, agentId, { messagesPerHour: 2 });
  const eva = visitor(tight.publicKey);
  await eva.come();
  assert.equal((await eva.say('x'.repeat(4001))).body.error, 'Message too long (max 4000)');
  assert.equal((await eva.say('x'.repeat(1_000_000))).status, 413);
  assert.equal((await eva.say(' ')).body.error, 'Message required');
  assert.equal((await eva.say('one')).status, 202);
  assert.equal((await eva.say('two')).status, 202);
  assert.deepEqual(await eva.say('three'), {
    status: 429,
    body: { error: 'Too many messages. Please wait a little.' },
  });
  const bob = visitor(tight.publicKey);
  await bob.come();
  assert.equal((await bob.say('mine counts for me')).status, 202);
});

test('the cap of a day ends answers with a sentence, before and during a conversation, without a model call', async () => {
  const poor = await newWidget(ann, agentId, { dailyCapUsd: 0.01 });
  const eva = visitor(poor.publicKey);
  await eva.come();
  await eva.say('first');
  const stream = await eva.listen();
  await stream.until(isEnd);
  const since = new Date(`${new Date().toISOString().slice(0, 10)}T00:00:00Z`);
  const counter = services.runtime.db.system
    .updateTable('spend_counters')
    .set({ used: 9_999n })
    .where('scope_id', '=', poor.id)
    .where('since', '=', since)
    .returning('used');
  assert.equal((await counter.execute()).length, 1, 'what its visitors cost is counted for the widget');
  const before = director.calls.length;
  assert.equal((await eva.say('second')).status, 202);
  const closed = await stream.until(({ data }) => /for today/.test(data.text ?? ''));
  assert.equal(closed.event, 'end');
  await stream.stop();
  await services.runtime.db.system
    .updateTable('spend_counters')
    .set({ used: 10_000n })
    .where('scope_id', '=', poor.id)
    .execute();
  const { status, body } = await eva.say('third');
  assert.deepEqual([status, body.state], [202, 'closed']);
  assert.match(body.text, /come back tomorrow/);
  assert.equal(director.calls.length, before, 'no model was asked');
  const rich = visitor();
  await rich.come();
  assert.equal((await rich.say('another widget goes on')).body.state, 'agent');
  const shown = (await ann.ask('GET', `/api/agents/${agentId}/widgets`)).body.widgets.find(
    (one: Body) => one.id === poor.id,
  );
  assert.equal(shown.spentTodayUsd, 0.01);
});

test('what a visitor says widens nothing: no tools or memories, unless its owner allows them, and then by the owner’s leave', async () => {
  const path = `/api/runtime/proxy/${agentId}/definition`;
  const { definition } = (await askBackend(services, 'GET', path)).body;
  const saved = await askBackend(services, 'PUT', path, { ...definition, approvals: { write_file: 'ask' } });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  await ann.ask('POST', '/api/memory', { agentId, key: 'safe', content: 'the code of the safe is 4711' });
  const order = steps({ tool: 'write_file', args: { path: 'owned.txt', content: 'x' } }, { say: 'done: safe code' });
  const eva = visitor();
  await eva.come();
  await eva.say(order);
  const stream = await eva.listen();
  await stream.until(isEnd);
  await stream.stop();
  const told = stream.heard.filter(({ data }) => data.role !== 'visitor');
  assert.doesNotMatch(JSON.stringify(told), /write_file|owned|There is no tool/, 'nor sees what was tried');
  const [{ sessionId }] = (await ann.ask('GET', `/api/agents/${agentId}/visitors`)).body.visitors;
  const tried = (await ann.ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`)).body.events;
  const result = tried.find(({ type }: Body) => type === 'tool_result');
  assert.match(result.content, /There is no tool write_file/);
  const sent = director.provider.requests.at(-1)!.body as Body;
  assert.doesNotMatch(JSON.stringify(sent.messages), /4711/);
  assert.deepEqual(
    (sent.tools ?? []).map((one: Body) => one.function.name).filter((name: string) => name !== 'think'),
    [],
  );

  const open = await newWidget(ann, agentId, { abilities: 'all' });
  const bob = visitor(open.publicKey);
  await bob.come();
  await bob.say(order);
  const waits = await bob.listen();
  await waits.until(({ event }) => event === 'waits');
  const items: Body[] = (await ann.ask('GET', '/api/inbox')).body.items;
  const call = items.find(({ kind }) => kind === 'approval');
  assert.equal(call.tool, 'write_file');
  const decided = await send(
    `${services.web}/api/agents/${agentId}/approvals/${call.id}`,
    'POST',
    { approved: true },
    { authorization: `Bearer ${bob.token()}` },
  );
  assert.equal(decided.status, 401, 'a visitor decides nothing');
  assert.equal((await ann.ask('POST', `/api/agents/${agentId}/approvals/${call.id}`, { approved: true })).status, 200);
  await waits.until(({ data }) => data.text === 'done: safe code');
  await waits.stop();
});

test('a person answers in the agent’s place, live, and the agent knows it afterwards', async () => {
  const eva = visitor();
  await eva.come();
  await eva.say('I want to talk to somebody');
  const stream = await eva.listen();
  await stream.until(isEnd);
  assert.deepEqual((await eva.ask('handover')).body, { state: 'waiting' });
  await stream.until(({ event, data }) => event === 'state' && data.state === 'person');
  const before = director.calls.length;
  assert.deepEqual((await eva.say('my order is late')).body, { state: 'waiting', text: null });
  const item = (await ann.ask('GET', '/api/inbox')).body.items.find(({ kind }: Body) => kind === 'visitor');
  assert.deepEqual([item.words, item.origin, item.state, item.agentName], ['my order is late', SITE, 'waiting', 'Ada']);
  const path = `/api/agents/${agentId}/visitors/${item.id}`;
  const replied = await ann.ask('POST', `${path}/reply`, { message: '<b>It left today.</b>', id: 'r1' });
  assert.deepEqual([replied.status, replied.body.visitor.state], [200, 'person']);
  assert.equal((await ann.ask('POST', `${path}/reply`, { message: '<b>It left today.</b>', id: 'r1' })).status, 200);
  await stream.until(({ data }) => data.role === 'person');
  assert.deepEqual(stream.texts('person'), ['<b>It left today.</b>'], 'once, and as it was written');
  assert.equal(director.calls.length, before, 'the agent was not asked');
  assert.equal((await ann.ask('POST', `${path}/return`)).body.visitor.state, 'agent');
  await stream.until(
    ({ event, data }) => event === 'state' && data.state === 'agent' && stream.texts('notice').length > 2,
  );
  assert.deepEqual((await ann.ask('GET', '/api/inbox')).body.items, []);
  await eva.say('thanks');
  await stream.until(({ data }) => data.role === 'visitor' && data.text === 'thanks');
  await stream.until(({ event, id }) => event === 'end' && Number(id) > 4);
  const said = JSON.stringify(director.provider.requests.at(-1)!.body);
  assert.match(said, /my order is late[^]*It left today[^]*thanks/);
  await stream.stop();
  await change(widget.id, { handsOver: false });
  assert.equal((await eva.ask('handover')).status, 409);
});

test('a widget that is switched off, or gets another key, ends for those who talk', async () => {
  const brief = await newWidget(ann, agentId);
  const eva = visitor(brief.publicKey);
  await eva.come();
  await eva.say('hi');
  const stream = await eva.listen();
  await stream.until(isEnd);
  await change(brief.id, { enabled: false });
  await stream.until(({ event }) => event === 'closed');
  await stream.over;
  assert.deepEqual(await eva.say('still there?'), { status: 404, body: { error: 'This chat is not available' } });
  await change(brief.id, { enabled: true });
  const live = await eva.listen();
  const { body } = await ann.ask('POST', `/api/agents/${agentId}/widgets/${brief.id}/rotate`);
  await live.until(({ event }) => event === 'closed');
  assert.equal((await eva.say('old key')).status, 404);
  const renewed = visitor(body.widget.publicKey);
  renewed.use(eva.token());
  assert.equal((await renewed.say('old token')).status, 401);
});

test('an agent that fails or is stopped says a sentence, and nothing of why', async () => {
  const eva = visitor();
  await eva.come();
  await eva.say(steps({ down: true }));
  const stream = await eva.listen();
  const { data } = await stream.until(isEnd);
  assert.equal(data.text, 'Sorry, I cannot answer now. Please try again later.');
  await stream.stop();
  assert.equal((await askBackend(services, 'POST', `/api/agents/${agentId}/stop`)).status, 200);
  assert.deepEqual(await eva.say('hello?'), {
    status: 503,
    body: { error: 'Nobody can answer at the moment. Please try again later.' },
  });
  assert.equal((await askBackend(services, 'POST', `/api/agents/${agentId}/start`)).status, 200);
});

test('conversations go when their time is over, and with their widget', async () => {
  const short = await newWidget(ann, agentId, { retentionDays: 1 });
  const eva = visitor(short.publicKey);
  const bob = visitor(short.publicKey);
  for (const one of [eva, bob]) {
    await one.come();
    await one.say('remember me');
    const stream = await one.listen();
    await stream.until(isEnd);
    await stream.stop();
  }
  const { db, jobs } = services.runtime;
  const id = eva.token().split('.')[1]!;
  const sessions = async () =>
    (await ann.ask('GET', `/api/agents/${agentId}/sessions?limit=100`)).body.sessions.filter(({ key }: Body) =>
      (key as string).startsWith(short.id),
    ).length;
  assert.equal(await sessions(), 2);
  await db.system
    .updateTable('widget_visitors')
    .set({ seen_at: new Date(Date.now() - 25 * 3_600_000) })
    .where('id', '=', id)
    .execute();
  // As the job does in an hour.
  const { widgetRetentionJob } = await import('@troupe/contract');
  await jobs.send(db.system, widgetRetentionJob, { widgetId: short.id, userId: ann.id }, { key: `now:${short.id}` });
  await allJobsRan(jobs);
  assert.equal(await sessions(), 1);
  assert.equal((await eva.come()).hasTalked, false, 'who comes back begins anew');
  assert.equal((await ann.ask('DELETE', `/api/agents/${agentId}/widgets/${short.id}`)).status, 200);
  assert.equal((await bob.say('gone')).status, 404);
  await allJobsRan(jobs);
  assert.equal(await sessions(), 0);
  assert.equal((await db.system.selectFrom('widgets').select('id').where('id', '=', short.id).execute()).length, 0);
});

test('an agent that is deleted takes its widgets with it', async () => {
  const id = await provisioned(ann, { name: 'Brief' });
  const gone = await newWidget(ann, id);
  const eva = visitor(gone.publicKey);
  await eva.come();
  await eva.say('hi');
  const stream = await eva.listen();
  await stream.until(isEnd);
  assert.equal((await ann.ask('DELETE', `/api/agents/${id}`)).status, 200);
  await stream.over;
  assert.equal((await eva.say('hello?')).status, 404);
});

test('the page of a widget shows it alone, and only where its owner wants one', async () => {
  const path = `${services.web}/w/${widget.publicKey}`;
  await change(widget.id, { title: 'Ask <script>alert(1)</script> us' });
  const page = await fetch(path);
  const html = await page.text();
  assert.equal(page.status, 200);
  assert.match(html, /<title>Ask &#60;script&#62;alert/);
  assert.match(html, new RegExp(`data-key="${widget.publicKey}" data-page`));
  const own = visitor(widget.publicKey, new URL(services.web).origin);
  await own.come();
  assert.equal((await own.say('from the page')).status, 202);
  await change(widget.id, { hosted: false });
  assert.equal((await fetch(path)).status, 404);
  assert.equal((await own.say('from the page')).status, 403);
});
