import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

const REDIRECT = 'http://127.0.0.1:7777/callback';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const ORIGIN = 'http://127.0.0.1:3000';

let web: TestWeb;
let ada: Person;
let bob: Person;
let clientId: string;
let now: Date;
before(async () => {
  now = new Date();
  web = await testWeb({ clock: () => now });
  ada = await signedIn(web);
  bob = await signedIn(web);
  await sql`insert into agents (id, user_id, name) values ('agent-a', ${ada.id}, 'A')`.execute(web.deps.db.system);
  clientId = (await register({ redirect_uris: [REDIRECT], client_name: 'Tool', grant_types: ['refresh_token'] })).json()
    .client_id;
});
after(() => web.stop());

const inject = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object | string, headers: object = {}) =>
  web.server.app.inject({ method, url, headers: { host: '127.0.0.1:3000', ...headers }, ...(payload && { payload }) });
const register = (body: object) => inject('POST', '/oauth/register', body);
const form = (url: string, fields: Record<string, string>) =>
  inject('POST', url, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' });

const asked = (more: Record<string, string> = {}) => ({
  client_id: clientId,
  redirect_uri: REDIRECT,
  response_type: 'code',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  scope: 'agents:read agents:talk',
  state: 's',
  ...more,
});
const decide = (more: object = {}, who: Person = ada, approved = true) =>
  inject(
    'POST',
    '/api/authorizations',
    { ...asked(), approved, scopes: ['agents:read', 'agents:talk', 'tasks:write'], ...more },
    who.headers,
  );
const describeIt = (more: Record<string, string> = {}, who: Person = ada) =>
  inject('GET', `/api/authorizations/request?${new URLSearchParams(asked(more)).toString()}`, undefined, who.headers);

async function codeOf(more: object = {}): Promise<string> {
  const { redirect } = (await decide(more)).json() as { redirect: string };
  return new URL(redirect).searchParams.get('code') ?? '';
}
const exchange = (code: string, more: Record<string, string> = {}) =>
  form('/oauth/token', {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
    ...more,
  });
const refresh = (refresh_token: string, more: Record<string, string> = {}) =>
  form('/oauth/token', { grant_type: 'refresh_token', refresh_token, client_id: clientId, ...more });
const status = async (token: string): Promise<number> =>
  (await inject('POST', '/mcp', '{"jsonrpc":', { authorization: `Bearer ${token}` })).statusCode;

describe('what programs read about us', () => {
  test('names every endpoint under the issuer, and what is supported', async () => {
    const { issuer, ...rest } = (await inject('GET', '/.well-known/oauth-authorization-server')).json();
    assert.equal(issuer, ORIGIN);
    assert.equal(rest.authorization_endpoint, `${ORIGIN}/dashboard/authorize`);
    assert.deepEqual(rest.code_challenge_methods_supported, ['S256']);
    assert.equal(rest.client_id_metadata_document_supported, true);
    assert.equal(rest.authorization_response_iss_parameter_supported, true);
  });
});

describe('a program registers', () => {
  test('with addresses that are its own', async () => {
    const made = await register({ redirect_uris: ['cursor://x/y', 'https://a.example/cb'], client_name: 'C' });
    assert.equal(made.statusCode, 201);
    assert.equal(made.headers['cache-control'], 'no-store');
    assert.equal(made.json().token_endpoint_auth_method, 'none');
    for (const bad of [
      [],
      ['http://a.example/cb'],
      ['javascript://a/%0aalert(1)'],
      ['https://a/#x'],
      ['nonsense'],
      'x',
    ]) {
      const answer = await register({ redirect_uris: bad });
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_redirect_uri'], String(bad));
    }
  });

  test('under a name that people can read as it is', async () => {
    const nameOf = async (client_name: string): Promise<string> =>
      (await register({ redirect_uris: ['https://a.example/cb'], client_name })).json().client_name;
    assert.equal(await nameOf('Good\u202E\u200B\n tool\u0007'), 'Good tool');
    assert.equal(await nameOf('\u200B\u2060'), 'a.example');
    assert.equal((await nameOf('a b '.repeat(50))).length, 79);
  });

  test('and is forgotten when nobody lets it in, the oldest first', async () => {
    const ids = async (): Promise<string[]> =>
      (await web.deps.db.system.selectFrom('oauth_clients').select('id').execute()).map(({ id }) => id);
    await sql`insert into oauth_clients (id, name, redirect_uris, refreshes, described, created_at)
      select 'flood' || n, 'x', '{}', false, false, ${now}::timestamptz - n * interval '1 second'
      from generate_series(1, 10100) n`.execute(web.deps.db.system);
    const made = await register({ redirect_uris: ['https://a.example/cb'] });
    assert.equal(made.statusCode, 201, 'a flood keeps nobody out');
    const known = await ids();
    assert.ok(known.includes(made.json().client_id));
    assert.ok(known.includes('flood1') && !known.includes('flood10100'));
    await sql`delete from oauth_clients where id like 'flood%'`.execute(web.deps.db.system);
  });

  test('and is forgotten with what it was given when it has not come for 90 days', async () => {
    const { system } = web.deps.db;
    await sql`insert into oauth_clients (id, name, redirect_uris, refreshes, described, created_at, used_at)
      select id, 'x', '{}', true, described, ${now}::timestamptz - interval '1 year', ${now}::timestamptz - days * interval '1 day'
      from (values ('left', false, 91), ('https://left.example/x', true, 91), ('renewed', false, 91), ('came', false, 89))
        v (id, described, days)`.execute(system);
    await sql`insert into client_grants (id, user_id, client_id, client_name, audience, scopes, created_at)
      select 'grant of ' || id, ${bob.id}, id, 'x', 'platform', '{agents:read}', ${now}
      from oauth_clients where used_at < ${now}`.execute(system);
    await sql`insert into client_tokens (hash, user_id, grant_id, kind, scopes, created_at, expires_at)
      values ('alive', ${bob.id}, 'grant of renewed', 'refresh', '{agents:read}', ${now}, ${new Date(now.getTime() + 1000)}),
        ('over', ${bob.id}, 'grant of left', 'refresh', '{agents:read}', ${now}, ${now})`.execute(system);
    await register({ redirect_uris: ['https://a.example/cb'] });
    const clients = await sql<{ id: string }>`select id from oauth_clients where name = 'x' order by id`.execute(
      system,
    );
    assert.deepEqual(
      clients.rows.map(({ id }) => id),
      ['came', 'renewed'],
    );
    const grants = await sql<{ id: string }>`select id from client_grants where client_name = 'x' order by id`.execute(
      system,
    );
    assert.deepEqual(
      grants.rows.map(({ id }) => id),
      ['grant of came', 'grant of renewed'],
    );
    await sql`delete from oauth_clients where name = 'x'`.execute(system);
    await sql`delete from client_grants where client_name = 'x'`.execute(system);
  });
});

describe('a person is asked', () => {
  test('by name, for what, and about which agent', async () => {
    const shown = (await describeIt({ scope: 'agents:read offline_access' })).json();
    assert.deepEqual(shown.client, { name: 'Tool', host: null, redirectHost: '127.0.0.1:7777' });
    assert.deepEqual(
      shown.scopes.map(({ scope }: { scope: string }) => scope),
      ['agents:read'],
    );
    const resource = 'http://localhost:9/api/runtime/proxy/agent-a/mcp';
    assert.deepEqual((await describeIt({ resource })).json().audience, { kind: 'agent', name: 'A' });
    assert.equal((await describeIt({ resource }, bob)).statusCode, 400, 'another’s agent is not there');
  });

  test('only when the request is right', async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ client_id: 'nobody' }, /not registered/],
      [{ redirect_uri: 'https://evil.example/cb' }, /may not send you/],
      [{ code_challenge: '' }, /PKCE/],
      [{ code_challenge_method: 'plain' }, /PKCE/],
      [{ response_type: 'token' }, /PKCE/],
      [{ resource: 'https://evil.example/mcp' }, /not here/],
      [{ resource: 'http://127.0.0.1:4444/mcp' }, /not here/],
      [{ scope: 'everything' }, /nothing that can be given/],
      [{ client_id: 'https://127.0.0.1/client.json' }, /not registered/],
      [{ client_id: 'https://169.254.169.254/latest/meta-data' }, /not registered/],
    ];
    for (const [more, error] of cases) {
      const answer = await describeIt(more);
      assert.equal(answer.statusCode, 400, JSON.stringify(more));
      assert.match(answer.json().error, error);
      assert.equal((await decide(more)).statusCode, 400);
    }
    assert.equal(
      (await inject('POST', '/api/authorizations', { ...asked(), approved: true, scopes: [] })).statusCode,
      401,
    );
  });

  test('and a no goes back as a no', async () => {
    for (const answer of [await decide({}, ada, false), await decide({ scopes: [] })]) {
      const { searchParams } = new URL(answer.json().redirect);
      assert.deepEqual(
        ['error', 'state', 'iss', 'code'].map((name) => searchParams.get(name)),
        ['access_denied', 's', ORIGIN, null],
      );
    }
  });
});

describe('a code', () => {
  test('is exchanged once; shown again, it ends everything that came of it', async () => {
    const code = await codeOf();
    const first = await exchange(code);
    assert.equal(first.headers['cache-control'], 'no-store');
    const { access_token: access, scope } = first.json();
    assert.equal(scope, 'agents:read agents:talk');
    assert.equal(await status(access), 400, 'let in, and told that this is no JSON');
    assert.equal((await exchange(code)).json().error, 'invalid_grant');
    assert.equal(await status(access), 401);
  });

  test('is one program’s also when it is shown many times at once, and a key is made of it once', async () => {
    const code = await codeOf();
    const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(code)));
    const [good, ...others] = answers.filter(({ statusCode }) => statusCode === 200);
    assert.deepEqual([others.length, await status(good!.json().access_token)], [0, 401], 'somebody else had it, too');
    const keys = async () => (await inject('GET', '/api/keys', undefined, ada.headers)).json().keys.length;
    const [before, forKey] = [await keys(), await codeOf({ scope: 'account', scopes: ['account'] })];
    await Promise.all(Array.from({ length: 12 }, () => exchange(forKey)));
    assert.equal(await keys(), before + 1);
  });

  test('is good for its program, its address and its verifier alone, for a minute', async () => {
    const wrong: Record<string, string>[] = [
      { client_id: 'other' },
      { redirect_uri: 'http://127.0.0.1:7777/other' },
      { code_verifier: 'w'.repeat(43) },
    ];
    for (const more of wrong) {
      const answer = await exchange(await codeOf(), more);
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_grant'], JSON.stringify(more));
    }
    const late = await codeOf();
    now = new Date(now.getTime() + 61_000);
    assert.equal((await exchange(late)).json().error, 'invalid_grant');
    assert.equal((await form('/oauth/token', { grant_type: 'password' })).json().error, 'unsupported_grant_type');
    assert.equal((await form('/oauth/token', {})).json().error, 'invalid_request');
    assert.equal((await inject('POST', '/oauth/token', { grant_type: 'x' })).json().error, 'invalid_request');
  });
});

async function grantOf(token: string): Promise<string | undefined> {
  const hash = createHash('sha256').update(token).digest('hex');
  const rows = web.deps.db.system.selectFrom('client_tokens').select('grant_id').where('hash', '=', hash);
  return (await rows.executeTakeFirst())?.grant_id;
}

describe('a token', () => {
  test('ends after an hour, and a refresh token is used once', async () => {
    const given = (await exchange(await codeOf())).json();
    now = new Date(now.getTime() + 3_601_000);
    assert.equal(await status(given.access_token), 401);
    const second = (await refresh(given.refresh_token)).json();
    assert.equal(await status(second.access_token), 400);
    // At once: an answer that got lost. Later: somebody else has it.
    assert.equal((await refresh(given.refresh_token)).json().error, 'invalid_grant');
    assert.equal(await status(second.access_token), 400);
    now = new Date(now.getTime() + 31_000);
    assert.equal((await refresh(given.refresh_token)).json().error, 'invalid_grant');
    assert.equal(await status(second.access_token), 401, 'all that was given is taken back');
    assert.equal((await refresh(second.refresh_token)).json().error, 'invalid_grant');
  });

  test('is renewed once also by many at once, and what came of it stays', async () => {
    const { refresh_token } = (await exchange(await codeOf())).json();
    const answers = await Promise.all(Array.from({ length: 12 }, () => refresh(refresh_token)));
    const [renewed, ...others] = answers.filter(({ statusCode }) => statusCode === 200);
    assert.deepEqual([others.length, await status(renewed!.json().access_token)], [0, 400]);
  });

  test('keeps its program from being forgotten while it is renewed', async () => {
    const comeLongAgo = () =>
      sql`update oauth_clients set used_at = ${now}::timestamptz - interval '80 days' where id = ${clientId}`.execute(
        web.deps.db.system,
      );
    const usedAt = async () =>
      (
        await sql<{ used_at: Date }>`select used_at from oauth_clients where id = ${clientId}`.execute(
          web.deps.db.system,
        )
      ).rows[0]!.used_at;
    await comeLongAgo();
    const { refresh_token: token } = (await exchange(await codeOf())).json();
    assert.deepEqual(await usedAt(), now);
    await comeLongAgo();
    assert.equal((await refresh(token)).statusCode, 200);
    assert.deepEqual(await usedAt(), now);
  });

  test('may be given less, never more', async () => {
    const given = (await exchange(await codeOf({ scopes: ['agents:read'] }))).json();
    assert.equal(given.scope, 'agents:read');
    const more = (await refresh(given.refresh_token, { scope: 'agents:read tasks:write' })).json();
    assert.equal(more.scope, 'agents:read');
    assert.equal((await refresh(more.refresh_token, { scope: 'tasks:write' })).json().error, 'invalid_scope');
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_task' } });
    const refused = await inject('POST', '/mcp', body, { authorization: `Bearer ${more.access_token}` });
    assert.equal(refused.statusCode, 403);
    assert.match(
      String(refused.headers['www-authenticate']),
      /error="insufficient_scope".*scope="agents:read tasks:write"/,
    );
  });

  test('has no more than its person gives now', async () => {
    const wide = (await exchange(await codeOf())).json();
    const waiting = await codeOf();
    const narrow = (await exchange(await codeOf({ scopes: ['agents:read'] }))).json();
    assert.equal(await status(wide.access_token), 401);
    assert.equal((await refresh(wide.refresh_token)).json().error, 'invalid_grant');
    assert.equal((await exchange(waiting)).json().error, 'invalid_grant');
    assert.equal(await status(narrow.access_token), 400);
    const wider = (await exchange(await codeOf())).json();
    assert.equal(await status(narrow.access_token), 400, 'who has less keeps it');
    assert.equal(await status(wider.access_token), 400);
  });

  test('leaves a bounded number behind, however often it is renewed', async () => {
    let { refresh_token: token } = (await exchange(await codeOf())).json();
    const grant = await grantOf(token);
    await sql`insert into client_tokens (hash, user_id, grant_id, kind, scopes, created_at, expires_at, used_at)
      select 'old' || n, ${ada.id}, ${grant}, 'refresh', '{agents:read}', ${now}, ${new Date(now.getTime() + 60_000)},
        ${new Date(now.getTime() - 60_000)} from generate_series(1, 300) n`.execute(web.deps.db.system);
    token = (await refresh(token)).json().refresh_token;
    assert.equal((await refresh(token)).statusCode, 200);
    const { rows } = await sql<{ count: bigint }>`select count(*) from client_tokens
      where grant_id = ${grant} and used_at is not null`.execute(web.deps.db.system);
    assert.equal(Number(rows[0]?.count), 200);
  });

  test('opens /mcp alone, and is no administrator', async () => {
    await sql`update users set is_admin = true where id = ${ada.id}`.execute(web.deps.db.system);
    const { access_token: access } = (await exchange(await codeOf())).json();
    for (const url of ['/api/keys', '/api/authorizations', '/api/admin/users', '/api/scheduled-tasks']) {
      const { statusCode } = await inject('GET', url, undefined, { authorization: `Bearer ${access}` });
      assert.ok([401, 403].includes(statusCode), `${url} ${statusCode}`);
    }
  });

  test('is given back by its program, or taken away by its person', async () => {
    const given = (await exchange(await codeOf())).json();
    assert.equal((await form('/oauth/revoke', { token: given.refresh_token, client_id: 'other' })).statusCode, 200);
    assert.equal(await status(given.access_token), 400, 'another program’s word counts for nothing');
    assert.equal((await form('/oauth/revoke', { token: given.refresh_token, client_id: clientId })).statusCode, 200);
    assert.equal(await status(given.access_token), 401);
    const again = (await exchange(await codeOf())).json();
    const list = async (who: Person) =>
      (await inject('GET', '/api/authorizations', undefined, who.headers)).json().authorizations;
    const [grant] = await list(ada);
    assert.deepEqual([grant.name, grant.audience], ['Tool', 'platform']);
    assert.deepEqual(await list(bob), []);
    const remove = (who: Person) => inject('DELETE', `/api/authorizations/${grant.id}`, undefined, who.headers);
    assert.equal((await remove(bob)).statusCode, 404);
    assert.equal((await remove(ada)).statusCode, 200);
    assert.equal(await status(again.access_token), 401);
    assert.equal((await remove(ada)).statusCode, 404);
  });
});

describe('a key of the person’s', () => {
  const account = { scope: 'account', scopes: ['account'] };

  test('is given once to a program on her computer, and stands among her keys', async () => {
    const shown = (await describeIt({ scope: 'account agents:read offline_access' })).json();
    assert.deepEqual(
      shown.scopes.map(({ scope }: { scope: string }) => scope),
      ['account'],
    );
    const code = await codeOf(account);
    const given = (await exchange(code)).json();
    assert.match(given.access_token, /^sk_[0-9a-f]{64}$/);
    assert.deepEqual([given.scope, given.refresh_token, given.expires_in], ['account', undefined, undefined]);
    const validated = await inject('POST', '/api/keys/validate', { apiKey: given.access_token });
    assert.equal(validated.json().userId, ada.id);
    const { keys } = (await inject('GET', '/api/keys', undefined, ada.headers)).json();
    assert.ok(keys.some(({ name }: { name: string }) => name === 'Tool'));
    assert.equal((await exchange(code)).json().error, 'invalid_grant');
  });

  test('is for no program elsewhere, for no agent, and for nobody who has too many', async () => {
    const { client_id } = (await register({ redirect_uris: ['https://a.example/back', 'tool.app://back'] })).json();
    const text = 'Only a program on your own computer may ask for a key of yours';
    for (const redirect_uri of ['https://a.example/back', 'tool.app://back'])
      assert.equal((await decide({ ...account, client_id, redirect_uri })).json().error, text);
    const resource = 'http://127.0.0.1:9/api/runtime/proxy/agent-a/mcp';
    assert.equal((await decide({ ...account, resource })).json().error, text);
    await sql`insert into api_keys (id, user_id, name, preview, key_hash, created_at)
      select 'k' || n, ${ada.id}, 'k', 'k', 'hash' || n, now() from generate_series(1, 10) n`.execute(
      web.deps.db.system,
    );
    const refused = (await exchange(await codeOf(account))).json();
    assert.deepEqual([refused.error, refused.error_description], ['invalid_grant', 'Too many keys (max 10)']);
    await sql`delete from api_keys where id like 'k%'`.execute(web.deps.db.system);
  });
});
