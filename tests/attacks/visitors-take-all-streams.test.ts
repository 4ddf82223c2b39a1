import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/** Streams were bounded by widget, and an owner has many: seven of them took the streams of all owners' visitors. */
const WIDGETS = 8;
const VISITORS = 100;
const EACH = 3;
const SITE = 'https://shop.example';

let scene: Scene;
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

const from = (address: string, token?: string) => ({
  origin: SITE,
  'x-forwarded-for': address,
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
});

async function widgetOf({ ask, agentId }: Scene['attacker']): Promise<{ id: string; publicKey: string }> {
  const made = await ask('POST', `/api/agents/${agentId}/widgets`, { origins: [SITE] });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.widget;
}

/** A visitor whose conversation is there already. */
async function visitorOf(
  who: Scene['attacker'],
  { id, publicKey }: { id: string; publicKey: string },
  address: string,
) {
  const { status, body } = await send(`${scene.web}/api/widgets/${publicKey}/visitors`, 'POST', {}, from(address));
  assert.equal(status, 200, JSON.stringify(body));
  const [visitor, session] = [(body.token as string).split('.')[1]!, newId()];
  const { system } = scene.database.db;
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
    values (${session}, ${who.agentId}, ${who.id}, 'widget', ${session}, 'idle', 0)`.execute(system);
  await sql`insert into widget_visitors (id, widget_id, user_id, agent_id, session_id, state, words, origin, seen_at, created_at)
    values (${visitor}, ${id}, ${who.id}, ${who.agentId}, ${session}, 'agent', '', ${SITE}, now(), now())`.execute(
    system,
  );
  return body.token as string;
}

const open: http.ClientRequest[] = [];
async function listen(key: string, address: string, token: string): Promise<number> {
  const request = http.get(`${scene.web}/api/widgets/${key}/events`, { headers: from(address, token), agent: false });
  open.push(request.on('error', () => undefined));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.on('error', () => undefined).resume();
  return response.statusCode ?? 0;
}

test('an owner’s visitors leave streams to those of others', { timeout: 240_000 }, async () => {
  const { attacker, bystander } = scene;
  const honest = await widgetOf(bystander);
  const token = await visitorOf(bystander, honest, '203.0.113.1');
  const statuses: number[] = [];
  let asked = 0;
  await scene.unharmed(async () => {
    for (let w = 0; w < WIDGETS; w += 1) {
      const widget = await widgetOf(attacker);
      for (let v = 0; v < VISITORS; v += 10)
        await Promise.all(
          Array.from({ length: 10 }, async () => {
            const address = `198.51.${Math.floor(asked / 10)}.${(asked += 1) % 250}`;
            const visitor = await visitorOf(attacker, widget, address);
            for (let n = 0; n < EACH; n += 1) statuses.push(await listen(widget.publicKey, address, visitor));
          }),
        );
    }
    assert.equal(await listen(honest.publicKey, '203.0.113.1', token), 200);
  });
  const taken = statuses.filter((status) => status === 200).length;
  assert.ok(taken >= 300 && taken <= 600, `${taken} streams of one owner`);
  for (const request of open) request.destroy();
});
