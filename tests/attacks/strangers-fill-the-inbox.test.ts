import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/**
 * Visitors without an account who ask for a person stood in the owner's inbox before everything that came later: a hundred
 * of them, made by a handful of addresses in a minute, and no approval was seen there for a month.
 */
let scene: Scene;
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

interface Item {
  kind: string;
  id: string;
}
const hasApproval = ({ items }: { items: Item[] }): boolean => items.some(({ kind }) => kind === 'approval');

const SITE = 'https://shop.example';

test('visitors who ask for a person hide nothing that waits in an inbox', { timeout: 120_000 }, async () => {
  const { attacker: owner } = scene;
  const of = `/api/agents/${owner.agentId}`;
  const made = await owner.ask('POST', `${of}/widgets`, { origins: [SITE] });
  const key = made.body.widget.publicKey as string;
  const ask = (path: string, address: string, token?: string) =>
    send(
      `${scene.web}/api/widgets/${key}/${path}`,
      'POST',
      {},
      {
        origin: SITE,
        'x-forwarded-for': address,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    );
  const handedOver: number[] = [];
  await scene.unharmed(async () => {
    for (let n = 0; n < 150; n += 1) {
      const address = `198.51.100.${n % 6}`;
      const { body } = await ask('visitors', address);
      handedOver.push((await ask('handover', address, body.token)).status);
    }
  });
  const count = (status: number): number => handedOver.filter((one) => one === status).length;
  assert.equal(count(200) + count(429), 150, JSON.stringify(handedOver));
  assert.ok(count(200) <= 6 * 20, `${count(200)} of six addresses were taken`);
  const definition = `/api/runtime/proxy/${owner.agentId}/definition`;
  const { body } = await owner.askBackend('GET', definition);
  await owner.askBackend('PUT', definition, { ...body.definition, approvals: { write_file: 'ask' } });
  const chat = owner.chat({ tool: 'write_file', args: { path: 'a', content: 'b' } }, { say: 'done' });
  const inbox = async () => (await owner.ask('GET', '/api/inbox')).body as { items: Item[]; hasMore: boolean };
  let found = await inbox();
  for (const until = Date.now() + 10_000; !hasApproval(found) && Date.now() < until; found = await inbox())
    await delay(100);
  assert.ok(hasApproval(found), 'the approval is not shown');
  assert.ok(found.items.some(({ kind }) => kind === 'visitor'));
  assert.deepEqual([found.items.length <= 100, found.hasMore], [true, true]);
  const { id } = found.items.find(({ kind }) => kind === 'approval')!;
  assert.equal((await owner.ask('POST', `${of}/approvals/${id}`, { approved: true })).status, 200);
  assert.equal((await chat).status, 200);
});
