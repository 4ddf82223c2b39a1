import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** The way in for programs, taken again and again from everywhere: registering, asking, being let in, codes and tokens. */
const ADDRESSES = 40;
const ROUNDS = 40;
const REDIRECT = 'http://127.0.0.1:7777/back';

let scene: Scene;
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

const json = (body: unknown) => ({ type: 'application/json', body: JSON.stringify(body) });
const form = (fields: Record<string, string>) => ({
  type: 'application/x-www-form-urlencoded',
  body: new URLSearchParams(fields).toString(),
});
const asked = (client_id: string) => ({
  client_id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  scope: 'agents:read',
});

async function post(
  path: string,
  { type, body }: { type: string; body: string },
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(scene.web + path, { method: 'POST', headers: { 'content-type': type, ...headers }, body });
  return { status: answer.status, text: await answer.text() };
}

/** One of many strangers, who also has the attacker's session. */
async function once(address: string, n: number): Promise<number[]> {
  const from = { 'x-forwarded-for': address };
  const registered = await post('/oauth/register', json({ redirect_uris: [REDIRECT], client_name: `x${n}` }), from);
  const id = registered.status === 201 ? (JSON.parse(registered.text) as { client_id: string }).client_id : 'none';
  const own = { ...from, cookie: scene.attacker.cookie };
  const all = await Promise.all([
    fetch(`${scene.web}/api/authorizations/request?${new URLSearchParams(asked(id)).toString()}`, { headers: own }),
    post('/api/authorizations', json({ ...asked(id), approved: true, scopes: ['agents:read'] }), own),
    post(
      '/oauth/token',
      form({ grant_type: 'authorization_code', code: `ac_${n}`, client_id: id, code_verifier: 'x' }),
      from,
    ),
    post('/oauth/token', form({ grant_type: 'refresh_token', refresh_token: `rt_${n}`, client_id: id }), from),
    post('/oauth/revoke', form({ token: `rt_${n}` }), from),
  ]);
  return [registered.status, ...all.map(({ status }) => status)];
}

test('programs that ask without end leave little behind, and nobody waits', { timeout: 120_000 }, async () => {
  const statuses = new Map<number, number>();
  await scene.unharmed(async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const all = Array.from({ length: ADDRESSES }, (_, n) => once(`198.51.100.${n}`, round * ADDRESSES + n));
      for (const status of (await Promise.all(all)).flat()) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![200, 201, 400, 429].includes(status)),
    [],
  );
  const count = async (table: string): Promise<number> =>
    Number(
      (await sql<{ count: string }>`select count(*) from ${sql.table(table)}`.execute(scene.database.db.system))
        .rows[0]!.count,
    );
  assert.ok((await count('client_grants')) <= 50);
  assert.ok((await count('client_codes')) <= 60, 'more were let in than an hour allows');
  assert.ok((await count('oauth_clients')) <= 10_000);
});
