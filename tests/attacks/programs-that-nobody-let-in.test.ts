import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/**
 * A program can be the address of its own description. Somebody with an account could name ten thousand such addresses in
 * two minutes, each was fetched and kept, and those that others had just registered were forgotten for them: nobody could
 * let a new program in.
 */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const REDIRECT = 'http://127.0.0.1:7777/back';

async function register(): Promise<string> {
  const { status, body } = await send(`${scene.web}/oauth/register`, 'POST', { redirect_uris: [REDIRECT] });
  assert.equal(status, 201, JSON.stringify(body));
  return body.client_id;
}

/** As a browser asks, so that it counts for the account. */
function asked({ cookie }: { cookie: string }, client_id: string) {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
  });
  return send(`${scene.web}/api/authorizations/request?${query.toString()}`, 'GET', undefined, { cookie });
}

test('descriptions take no place from programs that registered', async () => {
  const program = await register();
  await sql`insert into oauth_clients (id, name, redirect_uris, refreshes, described, created_at)
    select 'https://evil.example/' || n, 'x', '{}', false, true, now() from generate_series(1, 10100) n`.execute(
    scene.database.db.system,
  );
  await register();
  const { status, body } = await asked(scene.bystander, program);
  assert.equal(status, 200, JSON.stringify(body));
});

test('who asks about programs without end is told so, and nobody else is', async () => {
  const program = await register();
  const statuses: number[] = [];
  await scene.unharmed(async () => {
    for (let n = 0; n < 80; n += 1) statuses.push((await asked(scene.attacker, `nobody-${n}`)).status);
  });
  assert.equal(statuses.filter((status) => status === 400).length, 60);
  assert.equal(statuses.at(-1), 429);
  assert.equal((await asked(scene.bystander, program)).status, 200);
});
