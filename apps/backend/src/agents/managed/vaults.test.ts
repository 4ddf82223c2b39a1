import assert from 'node:assert/strict';
import { createServer, type Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { all, answerDone, isRefused, MODEL, startKept, type Kept } from './testing.ts';

/** Vaults of Anthropic’s own client; and that nobody sees what another keeps. */

let kept: Kept;
before(async () => {
  kept = await startKept();
});
beforeEach(() => answerDone(kept.world));
after(() => kept.world.stop());

describe('vaults', () => {
  let mcp: HttpServer;
  let url: string;
  const seen: string[] = [];
  before(async () => {
    mcp = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.writeHead(401).end();
    }).listen(0, '127.0.0.1');
    await once(mcp, 'listening');
    url = `http://127.0.0.1:${(mcp.address() as AddressInfo).port}/mcp`;
  });
  after(() => {
    mcp.close();
    mcp.closeAllConnections();
  });
  const bearer = (token: string, at = url) => ({ type: 'static_bearer' as const, token, mcp_server_url: at });

  it('are made, changed, listed, archived and deleted, with what is in them; no secret is ever told', async () => {
    const vault = await kept.client.beta.vaults.create({ display_name: 'Alice', metadata: { user: '1' } });
    const secret = 'very-secret-token';
    const made = await kept.client.beta.vaults.credentials.create(vault.id, {
      auth: bearer(secret),
      display_name: 'Things',
    });
    assert.deepEqual([made.vault_id, made.auth], [vault.id, { type: 'static_bearer', mcp_server_url: url }]);
    const oauth = await kept.client.beta.vaults.credentials.create(vault.id, {
      auth: { type: 'mcp_oauth', access_token: secret, mcp_server_url: url, expires_at: '2030-01-01T00:00:00Z' },
    });
    const inVault = { vault_id: vault.id };
    const changed = await kept.client.beta.vaults.credentials.update(oauth.id, {
      ...inVault,
      auth: { type: 'mcp_oauth', access_token: 'other-secret' },
      metadata: { x: 'y' },
    });
    assert.deepEqual(changed.metadata, { x: 'y' });
    assert.deepEqual(await kept.client.beta.vaults.credentials.retrieve(made.id, inVault), made);
    const listed = await all(kept.client.beta.vaults.credentials.list(vault.id, { limit: 1 }));
    assert.deepEqual(
      listed.map(({ id }) => id),
      [oauth.id, made.id],
    );
    assert.ok(!JSON.stringify([made, oauth, changed, listed]).includes('secret'));
    const { db } = kept.world.services.runtime;
    const rows = await db.system.selectFrom('managed_credentials').select('sealed').execute();
    assert.ok(rows.every(({ sealed }) => !Buffer.from(sealed).includes('secret')));
    await kept.client.beta.vaults.credentials.archive(made.id, inVault);
    assert.equal((await all(kept.client.beta.vaults.credentials.list(vault.id))).length, 1);
    assert.equal((await all(kept.client.beta.vaults.credentials.list(vault.id, { include_archived: true }))).length, 2);
    await kept.client.beta.vaults.credentials.delete(oauth.id, inVault);
    assert.equal((await kept.client.beta.vaults.update(vault.id, { display_name: 'Bob' })).display_name, 'Bob');
    assert.ok((await all(kept.client.beta.vaults.list({ limit: 1 }))).some(({ id }) => id === vault.id));
    assert.ok((await kept.client.beta.vaults.archive(vault.id)).archived_at);
    await assert.rejects(kept.client.beta.vaults.credentials.create(vault.id, { auth: bearer('x') }), {
      message: /archived/,
    });
    assert.equal((await kept.client.beta.vaults.delete(vault.id)).type, 'vault_deleted');
    await assert.rejects(kept.client.beta.vaults.retrieve(vault.id), { status: 404 });
  });

  it('open the servers of the agent, for sessions that name the same ones', async () => {
    const { id } = await kept.client.beta.agents.create({ name: 'Caller', model: MODEL });
    const attached = await kept.ask('PUT', `/api/agents/${id}/mcp-servers/things`, { url });
    assert.equal(attached.status, 200, JSON.stringify(attached.body));
    const vaultWith = async (token: string) => {
      const vault = await kept.client.beta.vaults.create({ display_name: token });
      await kept.client.beta.vaults.credentials.create(vault.id, { auth: bearer(token) });
      return vault.id;
    };
    const [first, second] = [await vaultWith('first-token'), await vaultWith('second-token')];
    const begin = (vaultIds?: string[]) =>
      kept.client.beta.sessions.create({
        agent: id,
        environment_id: kept.environment,
        ...(vaultIds && { vault_ids: vaultIds }),
      });
    const tried = async () => {
      seen.length = 0;
      await kept.ask('POST', `/api/agents/${id}/mcp-servers/things/test`);
      return seen[0];
    };
    const one = await begin([first]);
    assert.deepEqual(one.vault_ids, [first]);
    assert.equal(await tried(), 'Bearer first-token');
    const same = await begin([first]);
    for (const others of [[second], [first, second], undefined])
      await assert.rejects(begin(others), isRefused(400, 'invalid_request_error', /other vaults/), String(others));
    await kept.client.beta.sessions.archive(one.id);
    await kept.client.beta.sessions.delete(same.id);
    const next = await begin([second]);
    assert.equal(await tried(), 'Bearer second-token');
    await kept.client.beta.sessions.archive(next.id);
    await begin();
    assert.equal(await tried(), '');
  });

  it('do not touch what the owner has written there', async () => {
    const { id } = await kept.client.beta.agents.create({ name: 'Caller', model: MODEL });
    await kept.ask('PUT', `/api/agents/${id}/mcp-servers/things`, { url, headers: { 'x-own': 'mine' } });
    const vault = await kept.client.beta.vaults.create({ display_name: 'v' });
    await kept.client.beta.vaults.credentials.create(vault.id, { auth: bearer('t') });
    await assert.rejects(
      kept.client.beta.sessions.create({ agent: id, environment_id: kept.environment, vault_ids: [vault.id] }),
      isRefused(400, 'invalid_request_error', /headers of its own/),
    );
    assert.deepEqual(await all(kept.client.beta.sessions.list({ agent_id: id })), []);
  });

  it('that hold what is not taken are refused by name', async () => {
    const vault = await kept.client.beta.vaults.create({ display_name: 'v' });
    const refresh = {
      client_id: 'c',
      refresh_token: 'r',
      token_endpoint: 'https://a.test/t',
      token_endpoint_auth: { type: 'none' as const },
    };
    for (const [auth, message] of [
      [
        { type: 'environment_variable', secret_name: 'A', secret_value: 'b', networking: { type: 'unrestricted' } },
        /auth must/,
      ],
      [{ type: 'mcp_oauth', access_token: 'a', mcp_server_url: url, refresh }, /refresh/],
      [{ type: 'static_bearer', token: 'a\nb', mcp_server_url: url }, /token/],
      [{ type: 'static_bearer', token: 'a', mcp_server_url: 'file:///etc/passwd' }, /mcp_server_url/],
    ] as const)
      await assert.rejects(
        kept.client.beta.vaults.credentials.create(vault.id, { auth: auth as never }),
        isRefused(400, 'invalid_request_error', message),
      );
    const made = await kept.client.beta.vaults.credentials.create(vault.id, { auth: bearer('t') });
    const inVault = { vault_id: vault.id };
    await assert.rejects(kept.client.beta.vaults.credentials.mcpOAuthValidate(made.id, inVault), {
      message: /is tried/,
    });
    await assert.rejects(
      kept.client.beta.vaults.credentials.update(made.id, {
        ...inVault,
        auth: { type: 'mcp_oauth', access_token: 'x' },
      }),
      { message: /stays of the type/ },
    );
  });
});

describe('what others keep', () => {
  it('is not there', async () => {
    const file = await kept.upload();
    const session = await kept.client.beta.sessions.create({ agent: kept.agent, environment_id: kept.environment });
    const deployment = await kept.deploy({ name: 'Mine' });
    const run = await kept.client.beta.deployments.run(deployment.id);
    const vault = await kept.client.beta.vaults.create({ display_name: 'v' });
    const credential = await kept.client.beta.vaults.credentials.create(vault.id, {
      auth: { type: 'static_bearer', token: 't', mcp_server_url: 'https://a.test/mcp' },
    });
    const inVault = { vault_id: vault.id };
    const own = await kept.other.beta.vaults.create({ display_name: 'own' });
    const [thread] = await all(kept.client.beta.sessions.threads.list(session.id));
    const inSession = { session_id: session.id };
    const asks: (() => Promise<unknown>)[] = [
      async () => kept.other.beta.files.retrieveMetadata(file.id),
      async () => kept.other.beta.files.download(file.id),
      async () => kept.other.beta.files.delete(file.id),
      async () => kept.other.beta.sessions.resources.list(session.id),
      async () => kept.other.beta.sessions.resources.add(session.id, { type: 'file', file_id: file.id }),
      async () => kept.other.beta.sessions.threads.list(session.id),
      async () => kept.other.beta.sessions.threads.retrieve(thread!.id, inSession),
      async () => kept.other.beta.sessions.threads.events.list(thread!.id, inSession),
      async () => kept.other.beta.sessions.threads.events.stream(thread!.id, inSession),
      async () => kept.other.beta.deployments.retrieve(deployment.id),
      async () => kept.other.beta.deployments.update(deployment.id, { name: 'x' }),
      async () => kept.other.beta.deployments.pause(deployment.id),
      async () => kept.other.beta.deployments.run(deployment.id),
      async () => kept.other.beta.deployments.archive(deployment.id),
      async () => kept.other.beta.deploymentRuns.retrieve(run.id),
      async () => kept.other.beta.deploymentRuns.list({ deployment_id: deployment.id }),
      async () => kept.other.beta.vaults.retrieve(vault.id),
      async () => kept.other.beta.vaults.delete(vault.id),
      async () => kept.other.beta.vaults.credentials.list(vault.id),
      async () => kept.other.beta.vaults.credentials.retrieve(credential.id, inVault),
      async () => kept.other.beta.vaults.credentials.retrieve(credential.id, { vault_id: own.id }),
      async () => kept.other.beta.vaults.credentials.delete(credential.id, { vault_id: own.id }),
    ];
    for (const one of asks) await assert.rejects(one(), { status: 404 }, String(one));
    assert.deepEqual(await all(kept.other.beta.files.list()), []);
    assert.deepEqual(await all(kept.other.beta.deploymentRuns.list()), []);
  });
});
