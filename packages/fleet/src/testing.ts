import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createAi, providersFrom } from '@troupe/ai';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { newId, sha256Hex } from '@troupe/kernel';
import type { Driver } from './driver.ts';
import type { Thinking } from './embedded.ts';
import { createRoster, type AgentRow, type AllAgents, type OwnAgents } from '@troupe/roster';

/** What every driver must do, whatever it runs agents on. */

export interface Grounds {
  runtime: Runtime;
  /** Of the user who owns all agents here. */
  own: OwnAgents;
  roster: AllAgents;
  thinking: () => Thinking;
  verify: (agentId: string, token: string) => Promise<{ id: string; kind: 'owner' } | undefined>;
}

export async function testGrounds(): Promise<Grounds> {
  const runtime = await testRuntime();
  await testUser(runtime.db, 'ann', { plan: 'network' });
  const { of, system: roster } = createRoster({ db: runtime.db, clock: runtime.clock, sealKey: 'seal-of-tokens' });
  const model = createAi({
    providers: providersFrom(runtime.settings),
    catalogue: BUILT_IN_CATALOGUE,
    log: runtime.log,
  });
  return {
    runtime,
    own: of('ann'),
    roster,
    thinking: () => ({ model }),
    async verify(agentId, token) {
      const agent = await roster.find(agentId);
      return agent?.token_hash === sha256Hex(token) ? { id: `owner:${agentId}`, kind: 'owner' } : undefined;
    },
  };
}

export async function newAgent({ own }: Grounds, id = newId()): Promise<AgentRow> {
  const agent = { id, userId: 'ann', name: 'Ada', plan: 'solo' as const, status: 'running' as const, model: 'm' };
  const [row] = await own.add([agent], Infinity);
  return row!;
}

/** The driver's gateway behind a port. */
export async function front(driver: Driver) {
  const server = createServer((request, response) => {
    const [, agentId = '', ...rest] = (request.url ?? '').split('/');
    void driver.handle(request, response, { agentId, path: `/${rest.join('/')}` });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    close: () => server.close(),
    async ask(agentId: string, method: string, path: string, token?: string, body?: unknown) {
      const response = await fetch(`${base}/${agentId}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}

export type Door = Awaited<ReturnType<typeof front>>;

export function conformance(made: () => { grounds: Grounds; driver: Driver; ask: Door['ask'] }) {
  let agent: AgentRow;
  let token: string;
  const say = (content: string) =>
    made().ask(agent.id, 'POST', '/v1/chat/completions', token, { messages: [{ role: 'user', content }] });
  const remembered = async () => (await made().ask(agent.id, 'GET', '/memory', token)).body['count'] as number;

  test('starts an agent, as often as it is asked to', async () => {
    const { grounds, driver, ask } = made();
    agent = await newAgent(grounds);
    token = await grounds.roster.token(agent);
    const first = await driver.start(agent);
    assert.deepEqual(await driver.start(agent), first);
    assert.equal((await ask(agent.id, 'GET', '/sessions')).status, 401);
    const answer = await say('remember the sea is deep');
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  });

  test('keeps its data over stop and start, and from another image', async () => {
    const { driver } = made();
    assert.equal(await remembered(), 1);
    await driver.stop(agent);
    await driver.stop(agent);
    await driver.start(agent);
    assert.equal(await remembered(), 1);
  });

  test('takes a new definition over', async () => {
    const { grounds, driver, ask } = made();
    const { definition } = await grounds.roster.configure(agent, { memory: { maxEntries: 5 } });
    await driver.configure(agent, definition);
    const config = (await ask(agent.id, 'GET', '/config', token)).body['config'] as { memory: { maxEntries: number } };
    assert.equal(config.memory.maxEntries, 5);
  });

  test('starts with what was changed while it did not run', async () => {
    const { grounds, driver, ask } = made();
    await driver.stop(agent);
    await grounds.roster.configure(agent, { memory: { maxEntries: 6 } });
    await driver.start(agent);
    const config = (await ask(agent.id, 'GET', '/config', token)).body['config'] as { memory: { maxEntries: number } };
    assert.equal(config.memory.maxEntries, 6);
  });

  test('tells figures', async () => {
    assert.equal((await made().driver.stats(agent)).work?.runs, 1);
  });

  test('copies its data, running or stopped, and puts it back, as often as it is asked to', async () => {
    const { grounds, driver, ask } = made();
    const file = `${grounds.runtime.dataDir}/${agent.id}.tar.gz`;
    const messages = async () => (await ask(agent.id, 'GET', '/messages', token)).body['total'];
    const long = `${'deep/'.repeat(30)}letter.txt`;
    await say(`write ${long}: dear moon`);
    const before = [await remembered(), await messages()];
    await driver.backup(agent, file);
    assert.equal(await remembered(), before[0], 'it goes on running');
    await driver.stop(agent);
    const again = `${file}.again`;
    await driver.backup(agent, again);
    await driver.start(agent);
    await driver.reset(agent);
    await say(`write ${long}: gone`);
    await say('write new.txt: later');
    for (const archive of [file, again, again]) {
      await driver.stop(agent);
      await driver.restore(agent, archive);
      await driver.start(agent);
      assert.deepEqual([await remembered(), await messages()], before);
      const told = JSON.stringify((await say(`read ${long}`)).body);
      assert.ok(told.includes('dear moon'), told);
      assert.ok(!JSON.stringify((await say('list .')).body).includes('new.txt'));
    }
  });

  test('forgets when told to, and is gone when removed, as often as it is asked to', async () => {
    const { grounds, driver, ask } = made();
    await driver.reset(agent);
    assert.equal(await remembered(), 0);
    await grounds.roster.delete(agent.id);
    await driver.remove(agent);
    await driver.remove(agent);
    assert.ok((await ask(agent.id, 'GET', '/sessions', token)).status >= 401);
  });
}
