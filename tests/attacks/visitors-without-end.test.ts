import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/** Hundreds of visitors of one address: some are answered, the others are told to wait, and nobody else notices. */
let scene: Scene;
before(async () => {
  scene = await startScene({ TRUST_PROXY: '1' });
});
after(() => scene.stop());

const SITE = 'https://shop.example';
const FLOOD = '198.51.100.7';
const VISITORS = 300;

async function newWidget(who: Scene['attacker']): Promise<{ id: string; publicKey: string }> {
  const made = await who.ask('POST', `/api/agents/${who.agentId}/widgets`, { origins: [SITE] });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.widget;
}

const ask = (key: string, path: string, body: object, address: string, token?: string) =>
  send(`${scene.web}/api/widgets/${key}/${path}`, 'POST', body, {
    origin: SITE,
    'x-forwarded-for': address,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  });

const counted = (statuses: readonly number[]): Record<number, number> =>
  Object.fromEntries([...new Set(statuses)].map((one) => [one, statuses.filter((status) => status === one).length]));

test('a flood of visitors, of tokens that nobody gave, and of streams from one address', async () => {
  const { publicKey: key, id } = await newWidget(scene.attacker);
  const came: number[] = [];
  const said: number[] = [];
  const forged: number[] = [];
  const streams: number[] = [];
  const readers = new AbortController();
  let honest = 0;
  await scene.unharmed(async () => {
    await Promise.all([
      ...Array.from({ length: VISITORS }, async () => {
        const { status, body } = await ask(key, 'visitors', {}, FLOOD);
        came.push(status);
        if (status !== 200) return;
        const spoken = await ask(key, 'messages', { message: 'x'.repeat(4000) }, FLOOD, body.token);
        said.push(spoken.status);
        const headers = { origin: SITE, 'x-forwarded-for': FLOOD, authorization: `Bearer ${body.token}` };
        const read = await fetch(`${scene.web}/api/widgets/${key}/events`, { headers, signal: readers.signal });
        streams.push(read.status);
        if (read.status !== 200) await read.body?.cancel();
      }),
      ...Array.from({ length: VISITORS }, async (_, n) => {
        const token = `v1.somebody${n}.9999999999.${'0'.repeat(64)}`;
        forged.push((await ask(key, 'messages', { message: 'hi' }, FLOOD, token)).status);
      }),
    ]);
    // Somebody else of the same widget, from elsewhere, while the streams are open.
    const { body } = await ask(key, 'visitors', {}, '203.0.113.9');
    honest = (await ask(key, 'messages', { message: 'I only have a question' }, '203.0.113.9', body.token)).status;
  });
  readers.abort();
  assert.equal(honest, 202);
  const answered = counted(said)[202] ?? 0;
  assert.ok(answered > 0 && answered <= 30, JSON.stringify(counted(said)));
  assert.deepEqual(
    Object.keys(counted([...came, ...said, ...streams])).filter((status) => !/^(200|202|404|429|503)$/.test(status)),
    [],
    JSON.stringify([counted(came), counted(said), counted(streams)]),
  );
  assert.ok((counted(streams)[200] ?? 0) <= 40, JSON.stringify(counted(streams)));
  assert.deepEqual(
    Object.keys(counted(forged)).filter((status) => !/^(401|429)$/.test(status)),
    [],
  );
  const rows = await scene.database.db.system
    .selectFrom('widget_visitors')
    .select('id')
    .where('widget_id', '=', id)
    .execute();
  assert.equal(rows.length, answered + 1, 'who was refused left nothing behind');
});
