import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { createPgStore, createSandbox } from '@troupe/agent';
import { createBlobs } from '@troupe/db';
import { createOutbound } from '@troupe/kernel';
import { createEmbedded, type Embedded } from './embedded.ts';
import { conformance, front, newAgent, testGrounds, type Grounds } from './testing.ts';

/** Where its files are makes no difference to anybody. */
describe('the embedded driver with its files in the database', () => {
  let grounds: Grounds;
  let driver: Embedded;
  let door: Awaited<ReturnType<typeof front>>;
  before(async () => {
    grounds = await testGrounds();
    const { runtime, thinking, verify } = grounds;
    driver = createEmbedded({
      ...runtime,
      version: '1.0.0',
      blobs: createBlobs(runtime),
      sandbox: createSandbox(),
      outbound: createOutbound(),
      thinking,
      verify,
      publicUrl: (id) => id,
    });
    door = await front(driver);
  });
  after(async () => {
    door.close();
    await driver.disconnect();
    await driver.close();
    await grounds.runtime.close();
  });
  conformance(() => ({ grounds, driver, ask: door.ask }));
});

describe('the embedded driver', () => {
  let grounds: Grounds;
  let driver: Embedded;
  let door: Awaited<ReturnType<typeof front>>;
  before(async () => {
    grounds = await testGrounds();
    const { runtime, thinking, verify } = grounds;
    driver = createEmbedded({
      ...runtime,
      version: '1.0.0',
      sandbox: createSandbox(),
      outbound: createOutbound(),
      thinking,
      verify,
      publicUrl: (id) => `http://agent.test/${id}`,
    });
    door = await front(driver);
  });
  after(async () => {
    door.close();
    await driver.disconnect();
    await driver.close();
    await grounds.runtime.close();
  });
  conformance(() => ({ grounds, driver, ask: door.ask }));

  test('goes on with what a process that died has left, unless the agent was stopped', async () => {
    const { roster, runtime } = grounds;
    const agent = await newAgent(grounds);
    const stopped = await newAgent(grounds);
    await roster.change(stopped.id, { status: 'stopped' });
    const stores = [agent, stopped].map(({ id }) => createPgStore({ db: runtime.db, userId: 'ann', agentId: id }));
    // Taken in and never answered: what a kill leaves behind.
    for (const store of stores)
      await store.deliver({ to: { channel: 'api', key: 'k' }, events: [{ type: 'user', content: 'are you there?' }] });
    assert.equal(await driver.recover(), 1);
    for (let tries = 0; (await stores[0]!.messages({ limit: 10, offset: 0 })).total < 2; tries += 1) {
      assert.ok(tries < 100, 'no answer');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal((await stores[1]!.messages({ limit: 10, offset: 0 })).total, 1);
    assert.equal(await driver.recover(), 0);
  });

  test('what a stopped agent has kept is read, and nothing of it is woken or begun', async () => {
    const { roster, runtime } = grounds;
    const agent = await newAgent(grounds);
    const token = await roster.token(agent);
    const ask = (method: string, path: string, body?: unknown) => door.ask(agent.id, method, path, token, body);
    const said = await ask('POST', '/messages', { key: 'k', content: 'write notes.txt: the sea is deep' });
    assert.equal(said.status, 202, JSON.stringify(said.body));
    const sessionId = String(said.body['sessionId']);
    const answered = async () => (await ask('GET', `/sessions/${sessionId}`)).body as { session: { status: string } };
    for (let tries = 0; (await answered()).session.status !== 'idle'; tries += 1) {
      assert.ok(tries < 500, 'no answer');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await roster.change(agent.id, { status: 'stopped' });
    await driver.stop(agent);
    // Left behind by a process that died: it must stay so.
    const store = createPgStore({ db: runtime.db, userId: 'ann', agentId: agent.id });
    await store.deliver({ to: { channel: 'api', key: 'left' }, events: [{ type: 'user', content: 'go on' }] });

    const before = driver.awake();
    const read = async (path: string) => {
      const { status, body } = await ask('GET', path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const { events } = (await read(`/sessions/${sessionId}`)) as { events: { type: string; content?: string }[] };
    assert.equal(events[0]?.content, 'write notes.txt: the sea is deep');
    assert.equal((await read('/sessions'))['count'], 2);
    assert.equal(((await read('/search?q=deep'))['messages'] as unknown[]).length > 0, true);
    assert.equal(((await read(`/sessions/${sessionId}/branches`))['branches'] as unknown[]).length, 1);
    const names = ((await read('/files'))['entries'] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(names, ['notes.txt']);
    for (const path of ['/approvals', '/background', '/logs', '/messages', '/memory', '/config', '/definition'])
      await read(path);
    assert.equal((await read('/stats'))['busy'], 0);

    const refused: [string, string, unknown?][] = [
      ['POST', '/messages', { key: 'k', content: 'hello' }],
      ['POST', '/v1/chat/completions', { messages: [{ role: 'user', content: 'hello' }] }],
      ['POST', `/sessions/${sessionId}/branches`, { at: 1, content: 'again' }],
      ['POST', `/sessions/${sessionId}/cancel`, {}],
      ['PATCH', `/sessions/${sessionId}`, { title: 'Sea' }],
      ['DELETE', `/sessions/${sessionId}`],
      ['PUT', '/memory', { key: 'a', content: 'b' }],
      ['DELETE', '/files?path=notes.txt'],
      ['GET', `/sessions/${sessionId}/events`],
      ['GET', '/mcp-servers'],
      ['GET', '/ready'],
    ];
    for (const [method, path, body] of refused)
      assert.equal((await ask(method, path, body)).status, 502, `${method} ${path}`);

    assert.ok(driver.awake() <= before, 'nobody is awake for that');
    const { rows } = await sql<{ held: number; open: number }>`
      select count(*) filter (where lease_owner is not null)::int as held,
        count(*) filter (where status = 'open')::int as open from agent_sessions
      where agent_id = ${agent.id}`.execute(runtime.db.system);
    assert.deepEqual(rows, [{ held: 0, open: 1 }], 'no lease, and what was left is as it was');
    assert.equal((await door.ask(agent.id, 'GET', '/sessions', 'another token')).status, 502);

    await roster.delete(agent.id);
    await driver.remove(agent);
    const gone = await ask('GET', '/sessions');
    assert.deepEqual([gone.status, gone.body], [404, { error: 'Agent not found' }]);
  });

  test('what a lead has in the background is stopped with it, also with members that are stopped', async () => {
    const { roster, runtime } = grounds;
    const lead = await newAgent(grounds);
    const members = [await newAgent(grounds), await newAgent(grounds)];
    const storeOf = (agentId: string) => createPgStore({ db: runtime.db, userId: 'ann', agentId });
    const own = storeOf(lead.id);
    const { session } = (await own.deliver({ to: { channel: 'web', key: 'k' }, events: [] }))!;
    const limits = { maxTurns: 9, maxTokens: 9, maxCostMicros: 9, maxSeconds: 9 };
    for (const { id } of members) {
      const task = { id, sessionId: session.id, runSeq: 1, memberId: id, member: 'm', task: 'x', limits, depth: 1 };
      await own.addTask(task, { ofLead: 9, ofUser: 9 }, { owner: 'another process', ttlMs: 600_000 });
      const held = { owner: 'another process', ttlMs: 600_000 };
      await storeOf(id).deliver({
        to: { channel: 'background', key: id },
        events: [{ type: 'user', content: 'x' }],
        claim: held,
      });
    }
    await roster.change(members[1]!.id, { status: 'stopped' });
    await roster.change(lead.id, { status: 'stopped' });
    await driver.halt?.(lead.id);
    for (const { id } of members) {
      assert.equal((await own.task(id))?.status, 'stopped');
      const { session: work } = (await storeOf(id).deliver({ to: { channel: 'background', key: id }, events: [] }))!;
      const events = await storeOf(id).events(work.id, { after: 0, limit: 9 });
      assert.deepEqual(
        events.map(({ type }) => type),
        ['user', 'cancel_requested'],
      );
    }
    assert.deepEqual(
      (await own.events(session.id, { after: 0, limit: 9 })).map(({ type }) => type),
      [],
      'nobody is told',
    );
    await driver.halt?.(lead.id);
    await driver.halt?.('nobody');
  });

  test('a backup of long conversations takes no memory, and brings every letter back', async () => {
    const { runtime } = grounds;
    const agent = await newAgent(grounds);
    const store = createPgStore({ db: runtime.db, userId: 'ann', agentId: agent.id });
    await store.deliver({
      to: { channel: 'api', key: 'long' },
      events: [{ type: 'user', content: 'first \u2028 line\nsecond \u2029 line' }],
    });
    await sql`insert into agent_events (session_id, seq, agent_id, user_id, data, at)
      select session_id, seq + n, agent_id, user_id, jsonb_build_object('type', 'user', 'content', n || repeat('words ', 150000)), at
      from agent_events, generate_series(1, 120) n where agent_id = ${agent.id}`.execute(runtime.db.system);
    const events = () =>
      sql<{
        seq: bigint;
        sum: string;
      }>`select seq, md5(data::text) as sum from agent_events where agent_id = ${agent.id} order by seq`
        .execute(runtime.db.system)
        .then(({ rows }) => rows);
    const before = await events();
    assert.equal(before.length, 121);
    const file = path.join(runtime.dataDir, 'long.tar.gz');
    // 108 MB of text: all at once it took 400 MB; in pieces it is garbage that comes and goes
    assert.ok((await growth(() => driver.backup(agent, file))) < 250);
    await sql`delete from agent_events where agent_id = ${agent.id} and seq > 3`.execute(runtime.db.system);
    assert.ok((await growth(() => driver.restore(agent, file))) < 250);
    assert.deepEqual(await events(), before);
    assert.deepEqual(
      (await readdir(runtime.dataDir, { recursive: true })).filter((name) => name.endsWith('.rows')),
      [],
    );
  });

  test('sleeps when nobody talks to it, and wakes when somebody does', async () => {
    const { runtime, thinking, verify, roster } = grounds;
    const short = createEmbedded({
      ...runtime,
      version: '1.0.0',
      sandbox: createSandbox(),
      outbound: createOutbound(),
      thinking,
      verify,
      publicUrl: (id) => id,
      idleMs: 300,
    });
    const agent = await newAgent(grounds);
    await roster.change(agent.id, { status: 'running' });
    const ask = async (content: string) =>
      (await short.agent(agent.id))?.ask({ to: { channel: 'api', key: 'k' }, content });
    const asleep = async () => {
      for (let tries = 0; short.awake() > 0; tries += 1) {
        assert.ok(tries < 200, 'still awake');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    assert.equal((await ask('hello'))?.outcome, 'done');
    await asleep();
    assert.equal((await ask('hello again'))?.outcome, 'done');

    // A connection that stays open while the agent sleeps is as good as new.
    const server = createServer();
    server.on('upgrade', (request, socket, head) => {
      void short.upgrade(request, socket, head, { agentId: agent.id, path: '/ws' });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, ['bearer', await roster.token(agent)]);
    await once(socket, 'open');
    const say = (content: string) =>
      new Promise<string>((resolve) => {
        socket.onmessage = ({ data }) => {
          const { type, outcome, error } = JSON.parse(String(data)) as Record<string, string>;
          if (type === 'answer' || type === 'error') resolve(outcome ?? error ?? '');
        };
        socket.send(JSON.stringify({ type: 'message', content }));
      });
    assert.equal(await say('one'), 'done');
    await asleep();
    assert.equal(await say('two'), 'done');
    socket.close();
    server.close();
    await short.disconnect();
    await short.close();
  });
});

/** Megabytes of memory that the work took at its height, beside what was there. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const now = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const start = now();
  let most = start;
  const timer = setInterval(() => (most = Math.max(most, now())), 5);
  await work().finally(() => clearInterval(timer));
  return (most - start) / 1e6;
}
