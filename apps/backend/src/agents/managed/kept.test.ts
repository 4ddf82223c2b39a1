import assert from 'node:assert/strict';
import { createServer, type Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { replyChat } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/services';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** What Anthropic’s own client keeps on the platform beside agents and sessions: files, deployments, vaults. */

const MODEL = 'openai/gpt-4o-mini';
let world: World;
let client: Anthropic;
let other: Anthropic;
let environment: string;
let agent: string;
before(async () => {
  world = await startWorld({ AGENT_PRIVATE_HOSTS: '127.0.0.1' });
  const baseURL = world.services.backend;
  client = new Anthropic({ baseURL, apiKey: world.user.key, maxRetries: 0 });
  const { key } = await addUser(world.services.runtime, { plan: 'solo' });
  other = new Anthropic({ baseURL, apiKey: key, maxRetries: 0 });
  environment = (await client.beta.environments.create({ name: 'here' })).id;
  agent = (await client.beta.agents.create({ name: 'Keeper', model: MODEL })).id;
});
beforeEach(() => {
  reset(world);
  world.openrouter.answer((request, response) => replyChat(request, response, { content: 'done' }));
});
after(() => world.stop());

const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => (n * 7) % 256));
const upload = async (name = 'data.bin', content: Buffer = Buffer.from('hello'), more: object = {}) =>
  client.beta.files.upload({ file: await toFile(content, name, { type: 'text/plain' }), ...more });
const all = async <T>(pages: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const one of pages) found.push(one);
  return found;
};
const isRefused =
  (status: number, type: string, message: RegExp) => (error: InstanceType<typeof Anthropic.APIError>) => {
    const body = error.error as { type: string; error: { type: string; message: string } };
    assert.deepEqual([error.status, body.type, body.error.type], [status, 'error', type], error.message);
    assert.match(body.error.message, message);
    return true;
  };
const ask = (method: string, path: string, body?: unknown) =>
  send(world.services.web + path, method, body, { authorization: `Bearer ${world.user.key}` });

describe('files', () => {
  it('are kept as they were given, found, listed in pages and deleted', async () => {
    const made = await upload('größe "1".bin', bytes);
    assert.deepEqual(
      [made.type, made.filename, made.mime_type, made.size_bytes, made.downloadable],
      ['file', 'größe "1".bin', 'text/plain', bytes.length, true],
    );
    assert.deepEqual(await client.beta.files.retrieveMetadata(made.id), made);
    const answer = await client.beta.files.download(made.id);
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes));
    const second = await upload();
    const ids = (await all(client.beta.files.list({ limit: 1 }))).map(({ id }) => id);
    assert.deepEqual(ids.slice(0, 2), [second.id, made.id]);
    assert.deepEqual(await client.beta.files.delete(made.id), { id: made.id, type: 'file_deleted' });
    await assert.rejects(client.beta.files.retrieveMetadata(made.id), { status: 404 });
  });

  it('go by themselves where that was wanted', async () => {
    const { id, expires_at } = await upload('soon.txt', Buffer.from('x'), { expires_in_seconds: 3600 });
    assert.ok(Date.parse(expires_at!) > Date.now() + 3_500_000);
    const { db } = world.services.runtime;
    await db.system
      .updateTable('managed_files')
      .set({ expires_at: new Date(0) })
      .where('id', '=', id)
      .execute();
    await assert.rejects(client.beta.files.download(id), { status: 404 });
    assert.ok(!(await all(client.beta.files.list())).some((one) => one.id === id));
  });

  it('that are too large, too many bytes together, or not a form are refused', async () => {
    const large = Buffer.alloc(11 * 1024 * 1024);
    await assert.rejects(
      other.beta.files.upload({ file: await toFile(large, 'large.bin') }),
      isRefused(413, 'request_too_large', /10 MB/),
    );
    await assert.rejects(upload('a', Buffer.alloc(26 * 1024 * 1024)), { status: 413 });
    await assert.rejects(
      upload('a', Buffer.from('x'), { expires_in_seconds: 5 }),
      isRefused(400, 'invalid_request_error', /expires_in_seconds/),
    );
    await assert.rejects(client.beta.files.list({ scope_id: 'sesn_1' }), { status: 400, message: /scope_id/ });
    const { db } = world.services.runtime;
    const { id } = await upload();
    await db.system
      .updateTable('managed_files')
      .set({ bytes: 500 * 1024 * 1024 })
      .where('id', '=', id)
      .execute();
    await assert.rejects(upload(), isRefused(429, 'rate_limit_error', /500 MB together/));
    await client.beta.files.delete(id);
  });

  it('are not what clients of OpenAI look for there, and they are told so in their own shape', async () => {
    const openai = new OpenAI({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key, maxRetries: 0 });
    await assert.rejects(
      openai.files.create({ file: await toFile(Buffer.from('x'), 'a.txt'), purpose: 'assistants' }),
      (error: InstanceType<typeof OpenAI.APIError>) => {
        assert.deepEqual([error.status, error.type], [404, 'not_found_error']);
        return /Anthropic/.test(error.message);
      },
    );
  });
});

describe('files of sessions', () => {
  it('lie in the workspace of the agent, each under a name that is free, until they are taken away', async () => {
    const file = await upload('notes.txt', Buffer.from('remember'));
    const resources = [{ type: 'file' as const, file_id: file.id }];
    const made = await client.beta.sessions.create({ agent, environment_id: environment, resources });
    const [first] = made.resources as { id: string; mount_path: string }[];
    assert.equal(first!.mount_path, 'uploads/notes.txt');
    const read = async (path: string) =>
      (
        await fetch(`${world.services.web}/api/agents/${agent}/files/content?path=${encodeURIComponent(path)}`, {
          headers: { authorization: `Bearer ${world.user.key}` },
        })
      ).text();
    assert.equal(await read('uploads/notes.txt'), 'remember');
    const again = await client.beta.sessions.resources.add(made.id, { type: 'file', file_id: file.id });
    assert.equal(again.mount_path, 'uploads/notes-2.txt');
    const named = await client.beta.sessions.resources.add(made.id, {
      type: 'file',
      file_id: file.id,
      mount_path: '/work/in.txt',
    });
    assert.equal(named.mount_path, 'work/in.txt');
    assert.equal(await read('work/in.txt'), 'remember');
    const listed = await all(client.beta.sessions.resources.list(made.id, { limit: 2 }));
    assert.deepEqual(
      listed.map((one) => (one as { id: string }).id),
      [first!.id, again.id, named.id],
    );
    assert.deepEqual(await client.beta.sessions.resources.retrieve(named.id, { session_id: made.id }), named);
    await client.beta.sessions.resources.delete(named.id, { session_id: made.id });
    assert.match(await read('work/in.txt'), /File not found/);
    await assert.rejects(client.beta.sessions.resources.retrieve(named.id, { session_id: made.id }), { status: 404 });
    await assert.rejects(
      client.beta.sessions.resources.update(again.id, { session_id: made.id, authorization_token: 't' }),
      isRefused(400, 'invalid_request_error', /authorization_token/),
    );
  });

  it('that are refused leave nothing behind', async () => {
    const file = await upload('left.txt');
    const before_ = (await all(client.beta.sessions.list({ agent_id: agent }))).length;
    for (const [more, message] of [
      [
        [
          { type: 'file', file_id: file.id },
          { type: 'file', file_id: 'file_gone' },
        ],
        /File not found/,
      ],
      [
        [
          { type: 'file', file_id: file.id },
          { type: 'file', file_id: file.id, mount_path: '../out' },
        ],
        /outside/,
      ],
      [[{ type: 'github_repository', url: 'https://github.com/a/b', authorization_token: 't' }], /of type file/],
    ] as const)
      await assert.rejects(
        client.beta.sessions.create({ agent, environment_id: environment, resources: more as never }),
        { message },
      );
    assert.equal((await all(client.beta.sessions.list({ agent_id: agent }))).length, before_);
    const left = await ask('GET', `/api/agents/${agent}/files?path=uploads`);
    assert.ok(!JSON.stringify(left.body).includes('left.txt'), JSON.stringify(left.body));
  });
});

describe('threads', () => {
  it('are one for each session, with its events', async () => {
    const says = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'hello' }] };
    const made = await client.beta.sessions.create({ agent, environment_id: environment, initial_events: [says] });
    const threads = await all(client.beta.sessions.threads.list(made.id));
    assert.equal(threads.length, 1);
    const [thread] = threads;
    assert.deepEqual([thread!.session_id, thread!.parent_thread_id], [made.id, null]);
    const found = await client.beta.sessions.threads.retrieve(thread!.id, { session_id: made.id });
    assert.equal(found.agent.type, 'agent');
    const stream = await client.beta.sessions.threads.events.stream(thread!.id, { session_id: made.id });
    await client.beta.sessions.events.send(made.id, { events: [says] });
    for await (const event of stream) if (event.type === 'session.status_idle') break;
    const events = await all(client.beta.sessions.threads.events.list(thread!.id, { session_id: made.id }));
    assert.deepEqual(events, await all(client.beta.sessions.events.list(made.id)));
    await assert.rejects(
      client.beta.sessions.threads.archive(thread!.id, { session_id: made.id }),
      isRefused(400, 'invalid_request_error', /one thread/),
    );
    await assert.rejects(client.beta.sessions.threads.retrieve('sthr_x', { session_id: made.id }), { status: 404 });
  });
});

const says = (text: string) => ({ type: 'user.message' as const, content: [{ type: 'text' as const, text }] });
const deploy = (more: object = {}) =>
  client.beta.deployments.create({
    agent,
    environment_id: environment,
    name: 'Daily',
    initial_events: [says('Report.')],
    ...more,
  });

describe('deployments', () => {
  it('begin a session when they are run; the run says which', async () => {
    const made = await deploy({ description: 'Every day', metadata: { a: 'b' } });
    assert.deepEqual(
      [made.type, made.name, made.agent.id, made.status, made.schedule, made.metadata],
      ['deployment', 'Daily', agent, 'active', null, { a: 'b' }],
    );
    const run = await client.beta.deployments.run(made.id);
    assert.deepEqual([run.deployment_id, run.error, run.trigger_context.type], [made.id, null, 'manual']);
    const session = await client.beta.sessions.retrieve(run.session_id!);
    assert.deepEqual([session.deployment_id, session.title, session.agent.id], [made.id, 'Daily', agent]);
    for (;;) {
      const events = await all(client.beta.sessions.events.list(session.id));
      if (!events.some(({ type }) => type === 'session.status_idle')) continue;
      const [first] = events as { type: string; content: { text: string }[] }[];
      assert.deepEqual([first!.type, first!.content[0]!.text], ['user.message', 'Report.']);
      break;
    }
    const second = await client.beta.deployments.run(made.id);
    assert.notEqual(second.session_id, run.session_id);
    const runs = await all(client.beta.deploymentRuns.list({ deployment_id: made.id, limit: 1 }));
    assert.deepEqual(
      runs.map(({ id }) => id),
      [second.id, run.id],
    );
    assert.deepEqual(await client.beta.deploymentRuns.retrieve(run.id), run);
    assert.deepEqual(await all(client.beta.deploymentRuns.list({ deployment_id: made.id, has_error: true })), []);
    const sessions = await all(client.beta.sessions.list({ deployment_id: made.id }));
    assert.deepEqual(sessions.map(({ id }) => id).toSorted(), [run.session_id, second.session_id].toSorted());
  });

  it('run by their schedule, each time once, and are tasks of the dashboard, too', async () => {
    const schedule = { type: 'cron' as const, expression: '0 7 * * *', timezone: 'Europe/Rome' };
    const made = await deploy({ name: 'Morning', schedule });
    assert.equal(made.schedule!.upcoming_runs_at!.length, 5);
    const { db } = world.services.runtime;
    await db.system
      .updateTable('scheduled_tasks')
      .set({ next_run: new Date(0) })
      .where('id', '=', made.id)
      .execute();
    // Something that arrives has the scheduler look at once.
    await sql`select pg_notify('tasks_waiting', '')`.execute(db.system);
    let runs = await all(client.beta.deploymentRuns.list({ deployment_id: made.id }));
    while (!runs[0]?.session_id) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      runs = await all(client.beta.deploymentRuns.list({ deployment_id: made.id, trigger_type: 'schedule' }));
    }
    assert.equal(runs.length, 1);
    assert.equal(runs[0]!.trigger_context.type, 'schedule');
    assert.equal((await client.beta.sessions.retrieve(runs[0]!.session_id!)).deployment_id, made.id);
    assert.ok((await client.beta.deployments.retrieve(made.id)).schedule!.last_run_at);
    const tasks = await ask('GET', `/api/scheduled-tasks?agentId=${agent}`);
    const task = (tasks.body.tasks as { id: string; prompt: string }[]).find(({ id }) => id === made.id);
    assert.equal(task?.prompt, 'Report.');
  });

  it('are changed, paused, listed and archived', async () => {
    const schedule = { type: 'cron' as const, expression: '*/5 * * * *', timezone: 'UTC' };
    const made = await deploy({ name: 'Often', schedule });
    const changed = await client.beta.deployments.update(made.id, {
      name: 'Seldom',
      initial_events: [says('Less.')],
      metadata: { c: 'd' },
    });
    assert.deepEqual([changed.name, changed.schedule!.expression], ['Seldom', '*/5 * * * *']);
    assert.deepEqual(changed.initial_events, [says('Less.')]);
    const paused = await client.beta.deployments.pause(made.id);
    assert.deepEqual(
      [paused.status, paused.paused_reason, paused.schedule!.upcoming_runs_at],
      ['paused', { type: 'manual' }, []],
    );
    const ids = async (query: object) =>
      (await all(client.beta.deployments.list({ limit: 1, ...query }))).map(({ id }) => id);
    assert.ok((await ids({ status: 'paused', agent_id: agent })).includes(made.id));
    assert.ok(!(await ids({ status: 'active' })).includes(made.id));
    assert.equal((await client.beta.deployments.unpause(made.id)).status, 'active');
    assert.equal((await client.beta.deployments.update(made.id, { schedule: null })).schedule, null);
    assert.ok((await client.beta.deployments.archive(made.id)).archived_at);
    assert.ok(!(await ids({})).includes(made.id));
    assert.ok((await ids({ include_archived: true })).includes(made.id));
    for (const refused of [
      () => client.beta.deployments.run(made.id),
      () => client.beta.deployments.unpause(made.id),
      () => client.beta.deployments.update(made.id, { name: 'x' }),
    ])
      await assert.rejects(refused(), { status: 400, message: /archived/ });
  });

  it('whose agent is archived say so in the run', async () => {
    const { id } = await client.beta.agents.create({ name: 'Short', model: MODEL });
    const made = await deploy({ agent: id });
    await client.beta.agents.archive(id);
    const run = await client.beta.deployments.run(made.id);
    assert.deepEqual(
      [run.session_id, run.error],
      [null, { type: 'agent_archived_error', message: 'The agent is archived' }],
    );
    assert.deepEqual(
      (await all(client.beta.deploymentRuns.list({ deployment_id: made.id, has_error: true }))).length,
      1,
    );
  });

  it('that ask for what is not there are refused by name, and the plan’s number of tasks holds', async () => {
    for (const [more, message] of [
      [{ vault_ids: ['vlt_1'] }, /vault_ids/],
      [{ resources: [{ type: 'file', file_id: 'f' }] }, /resources/],
      [{ budget: { type: 'usd', amount: 1 } }, /budget/],
      [{ initial_events: [] }, /initial_events/],
      [{ initial_events: [{ type: 'user.define_outcome', description: 'd' }] }, /initial_events/],
      [{ schedule: { type: 'cron', expression: 'often', timezone: 'UTC' } }, /cron/],
      [{ schedule: { type: 'cron', expression: '* * * * *', timezone: 'Moon' } }, /timezone/],
      [{ agent: { type: 'agent', id: agent, version: 1 } }, /version/],
      [{ name: ' ' }, /name/],
    ] as const)
      await assert.rejects(deploy(more), isRefused(400, 'invalid_request_error', message), JSON.stringify(more));
    const own = await other.beta.agents.create({ name: 'Own', model: MODEL });
    const place = await other.beta.environments.create({ name: 'e' });
    const wanted = { agent: own.id, environment_id: place.id, name: 'n', initial_events: [says('x')] };
    let made = 0;
    await assert.rejects(
      async () => {
        for (; made < 500; made += 1) await other.beta.deployments.create(wanted);
      },
      isRefused(429, 'rate_limit_error', /Scheduled task limit reached/),
    );
    assert.ok(made > 0);
  });
});

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
    const vault = await client.beta.vaults.create({ display_name: 'Alice', metadata: { user: '1' } });
    const secret = 'very-secret-token';
    const made = await client.beta.vaults.credentials.create(vault.id, {
      auth: bearer(secret),
      display_name: 'Things',
    });
    assert.deepEqual([made.vault_id, made.auth], [vault.id, { type: 'static_bearer', mcp_server_url: url }]);
    const oauth = await client.beta.vaults.credentials.create(vault.id, {
      auth: { type: 'mcp_oauth', access_token: secret, mcp_server_url: url, expires_at: '2030-01-01T00:00:00Z' },
    });
    const inVault = { vault_id: vault.id };
    const changed = await client.beta.vaults.credentials.update(oauth.id, {
      ...inVault,
      auth: { type: 'mcp_oauth', access_token: 'other-secret' },
      metadata: { x: 'y' },
    });
    assert.deepEqual(changed.metadata, { x: 'y' });
    assert.deepEqual(await client.beta.vaults.credentials.retrieve(made.id, inVault), made);
    const listed = await all(client.beta.vaults.credentials.list(vault.id, { limit: 1 }));
    assert.deepEqual(
      listed.map(({ id }) => id),
      [oauth.id, made.id],
    );
    assert.ok(!JSON.stringify([made, oauth, changed, listed]).includes('secret'));
    const { db } = world.services.runtime;
    const rows = await db.system.selectFrom('managed_credentials').select('sealed').execute();
    assert.ok(rows.every(({ sealed }) => !Buffer.from(sealed).includes('secret')));
    await client.beta.vaults.credentials.archive(made.id, inVault);
    assert.equal((await all(client.beta.vaults.credentials.list(vault.id))).length, 1);
    assert.equal((await all(client.beta.vaults.credentials.list(vault.id, { include_archived: true }))).length, 2);
    await client.beta.vaults.credentials.delete(oauth.id, inVault);
    assert.equal((await client.beta.vaults.update(vault.id, { display_name: 'Bob' })).display_name, 'Bob');
    assert.ok((await all(client.beta.vaults.list({ limit: 1 }))).some(({ id }) => id === vault.id));
    assert.ok((await client.beta.vaults.archive(vault.id)).archived_at);
    await assert.rejects(client.beta.vaults.credentials.create(vault.id, { auth: bearer('x') }), {
      message: /archived/,
    });
    assert.equal((await client.beta.vaults.delete(vault.id)).type, 'vault_deleted');
    await assert.rejects(client.beta.vaults.retrieve(vault.id), { status: 404 });
  });

  it('open the servers of the agent, for sessions that name the same ones', async () => {
    const { id } = await client.beta.agents.create({ name: 'Caller', model: MODEL });
    const attached = await ask('PUT', `/api/agents/${id}/mcp-servers/things`, { url });
    assert.equal(attached.status, 200, JSON.stringify(attached.body));
    const vaultWith = async (token: string) => {
      const vault = await client.beta.vaults.create({ display_name: token });
      await client.beta.vaults.credentials.create(vault.id, { auth: bearer(token) });
      return vault.id;
    };
    const [first, second] = [await vaultWith('first-token'), await vaultWith('second-token')];
    const begin = (vaultIds?: string[]) =>
      client.beta.sessions.create({ agent: id, environment_id: environment, ...(vaultIds && { vault_ids: vaultIds }) });
    const tried = async () => {
      seen.length = 0;
      await ask('POST', `/api/agents/${id}/mcp-servers/things/test`);
      return seen[0];
    };
    const one = await begin([first]);
    assert.deepEqual(one.vault_ids, [first]);
    assert.equal(await tried(), 'Bearer first-token');
    const same = await begin([first]);
    for (const others of [[second], [first, second], undefined])
      await assert.rejects(begin(others), isRefused(400, 'invalid_request_error', /other vaults/), String(others));
    await client.beta.sessions.archive(one.id);
    await client.beta.sessions.delete(same.id);
    const next = await begin([second]);
    assert.equal(await tried(), 'Bearer second-token');
    await client.beta.sessions.archive(next.id);
    await begin();
    assert.equal(await tried(), '');
  });

  it('do not touch what the owner has written there', async () => {
    const { id } = await client.beta.agents.create({ name: 'Caller', model: MODEL });
    await ask('PUT', `/api/agents/${id}/mcp-servers/things`, { url, headers: { 'x-own': 'mine' } });
    const vault = await client.beta.vaults.create({ display_name: 'v' });
    await client.beta.vaults.credentials.create(vault.id, { auth: bearer('t') });
    await assert.rejects(
      client.beta.sessions.create({ agent: id, environment_id: environment, vault_ids: [vault.id] }),
      isRefused(400, 'invalid_request_error', /headers of its own/),
    );
    assert.deepEqual(await all(client.beta.sessions.list({ agent_id: id })), []);
  });

  it('that hold what is not taken are refused by name', async () => {
    const vault = await client.beta.vaults.create({ display_name: 'v' });
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
        client.beta.vaults.credentials.create(vault.id, { auth: auth as never }),
        isRefused(400, 'invalid_request_error', message),
      );
    const made = await client.beta.vaults.credentials.create(vault.id, { auth: bearer('t') });
    const inVault = { vault_id: vault.id };
    await assert.rejects(client.beta.vaults.credentials.mcpOAuthValidate(made.id, inVault), { message: /is tried/ });
    await assert.rejects(
      client.beta.vaults.credentials.update(made.id, { ...inVault, auth: { type: 'mcp_oauth', access_token: 'x' } }),
      { message: /stays of the type/ },
    );
  });
});

describe('what others keep', () => {
  it('is not there', async () => {
    const file = await upload();
    const session = await client.beta.sessions.create({ agent, environment_id: environment });
    const deployment = await deploy({ name: 'Mine' });
    const run = await client.beta.deployments.run(deployment.id);
    const vault = await client.beta.vaults.create({ display_name: 'v' });
    const credential = await client.beta.vaults.credentials.create(vault.id, {
      auth: { type: 'static_bearer', token: 't', mcp_server_url: 'https://a.test/mcp' },
    });
    const inVault = { vault_id: vault.id };
    const own = await other.beta.vaults.create({ display_name: 'own' });
    const [thread] = await all(client.beta.sessions.threads.list(session.id));
    const inSession = { session_id: session.id };
    const asks: (() => Promise<unknown>)[] = [
      async () => other.beta.files.retrieveMetadata(file.id),
      async () => other.beta.files.download(file.id),
      async () => other.beta.files.delete(file.id),
      async () => other.beta.sessions.resources.list(session.id),
      async () => other.beta.sessions.resources.add(session.id, { type: 'file', file_id: file.id }),
      async () => other.beta.sessions.threads.list(session.id),
      async () => other.beta.sessions.threads.retrieve(thread!.id, inSession),
      async () => other.beta.sessions.threads.events.list(thread!.id, inSession),
      async () => other.beta.sessions.threads.events.stream(thread!.id, inSession),
      async () => other.beta.deployments.retrieve(deployment.id),
      async () => other.beta.deployments.update(deployment.id, { name: 'x' }),
      async () => other.beta.deployments.pause(deployment.id),
      async () => other.beta.deployments.run(deployment.id),
      async () => other.beta.deployments.archive(deployment.id),
      async () => other.beta.deploymentRuns.retrieve(run.id),
      async () => other.beta.deploymentRuns.list({ deployment_id: deployment.id }),
      async () => other.beta.vaults.retrieve(vault.id),
      async () => other.beta.vaults.delete(vault.id),
      async () => other.beta.vaults.credentials.list(vault.id),
      async () => other.beta.vaults.credentials.retrieve(credential.id, inVault),
      async () => other.beta.vaults.credentials.retrieve(credential.id, { vault_id: own.id }),
      async () => other.beta.vaults.credentials.delete(credential.id, { vault_id: own.id }),
    ];
    for (const one of asks) await assert.rejects(one(), { status: 404 }, String(one));
    assert.deepEqual(await all(other.beta.files.list()), []);
    assert.deepEqual(await all(other.beta.deploymentRuns.list()), []);
  });
});

describe('what is not there', () => {
  it('is refused by its name, in the shape of the protocol', async () => {
    const asks: [RegExp, () => Promise<unknown>][] = [
      [/^memory_stores/, async () => client.beta.memoryStores.create({ name: 'm' })],
      [/^memory_stores/, async () => client.beta.memoryStores.memories.list('memstore_1')],
      [/^skills/, async () => client.beta.skills.list()],
      [/^dreams/, async () => client.beta.dreams.list()],
      [/^tunnels/, async () => client.beta.tunnels.list()],
      [/^user_profiles/, async () => client.beta.userProfiles.list()],
      [/^work/, async () => client.beta.environments.work.list(environment)],
      [/^batches/, async () => client.messages.batches.list()],
    ];
    for (const [message, one] of asks) await assert.rejects(one(), isRefused(404, 'not_found_error', message));
  });
});
