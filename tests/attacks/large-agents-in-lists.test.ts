import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send, type Body, type Reply } from '@troupe/testing/services/people';

/**
 * A session of Managed Agents shows its agent whole. Tools of an agent had no bound but the body's, so a page of a hundred
 * sessions was a hundred megabytes, and ten of them at once gigabytes.
 */
const MB = 1024 * 1024;
const MOST = 3 * MB;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
  send(scene.backend + path, method, body, { authorization: `Bearer ${scene.attacker.key}` });
const read = (path: string) =>
  fetch(scene.backend + path, { headers: { authorization: `Bearer ${scene.attacker.key}` } });

const tools = (bytes: number) => [
  {
    type: 'custom',
    name: 'weather',
    description: 'The weather',
    input_schema: { type: 'object', properties: { city: { type: 'string', description: 'x'.repeat(bytes) } } },
  },
];

async function sessionsOf(agentId: string, count: number): Promise<void> {
  const { body } = await ask('POST', '/v1/environments', { name: 'here' });
  await sql`insert into managed_sessions (id, user_id, agent_id, environment_id, metadata, created_at, updated_at)
    select 'sesn_' || ${newId()} || n, ${scene.attacker.id}, ${agentId}, ${body.id}, '{}', now(), now()
    from generate_series(1, ${count}::integer) n`.execute(scene.database.db.system);
}

async function walked(path: string): Promise<{ items: Body[]; largest: number }> {
  const items: Body[] = [];
  let largest = 0;
  for (let page: string | null = '0'; page !== null;) {
    const text = await (await read(`${path}?limit=100&page=${page}`)).text();
    largest = Math.max(largest, text.length);
    const body = JSON.parse(text) as Body;
    items.push(...body.data);
    page = body.next_page;
  }
  return { items, largest };
}

test('tools of an agent are so large at most', async () => {
  const refused = await ask('POST', '/v1/agents', {
    name: 'Large',
    model: 'openai/gpt-4o-mini',
    tools: tools(900_000),
  });
  assert.equal(refused.status, 400, JSON.stringify(refused.body).slice(0, 200));
  assert.match(refused.body.error.message, /tools/);
});

test('pages of sessions and versions end at a bound, and all of it is found', { timeout: 120_000 }, async () => {
  const given = { name: 'Ada', model: 'openai/gpt-4o-mini', system: 'y'.repeat(50_000), tools: tools(60_000) };
  const made = await ask('POST', '/v1/agents', given);
  assert.equal(made.status, 200, JSON.stringify(made.body).slice(0, 300));
  for (let n = 0; n < 45; n += 1) await ask('POST', `/v1/agents/${made.body.id}`, { description: `version ${n}` });
  await sessionsOf(made.body.id, 100);
  await scene.unharmed(async () => {
    const sessions = await walked('/v1/sessions');
    const versions = await walked(`/v1/agents/${made.body.id}/versions`);
    assert.deepEqual([sessions.items.length, new Set(sessions.items.map(({ id }) => id)).size], [100, 100]);
    assert.equal(versions.items.length, 46);
    for (const { largest } of [sessions, versions]) assert.ok(largest < MOST, `a page of ${largest} bytes`);
    const replies = await Promise.all(Array.from({ length: 20 }, () => read('/v1/sessions?limit=100')));
    for (const reply of replies) assert.ok((await reply.arrayBuffer()).byteLength < MOST);
  });
});
