import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { toFile } from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { all, answerDone, isRefused, says, startKept, type Kept } from './testing.ts';

/** Files that Anthropic’s own client keeps, and gives to sessions. */

let kept: Kept;
before(async () => {
  kept = await startKept();
});
beforeEach(() => answerDone(kept.world));
after(() => kept.world.stop());

const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => (n * 7) % 256));

describe('files', () => {
  it('are kept as they were given, found, listed in pages and deleted', async () => {
    const made = await kept.upload('größe "1".bin', bytes);
    assert.deepEqual(
      [made.type, made.filename, made.mime_type, made.size_bytes, made.downloadable],
      ['file', 'größe "1".bin', 'text/plain', bytes.length, true],
    );
    assert.deepEqual(await kept.client.beta.files.retrieveMetadata(made.id), made);
    const answer = await kept.client.beta.files.download(made.id);
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes));
    const second = await kept.upload();
    const ids = (await all(kept.client.beta.files.list({ limit: 1 }))).map(({ id }) => id);
    assert.deepEqual(ids.slice(0, 2), [second.id, made.id]);
    assert.deepEqual(await kept.client.beta.files.delete(made.id), { id: made.id, type: 'file_deleted' });
    await assert.rejects(kept.client.beta.files.retrieveMetadata(made.id), { status: 404 });
  });

  it('go by themselves where that was wanted', async () => {
    const { id, expires_at } = await kept.upload('soon.txt', Buffer.from('x'), { expires_in_seconds: 3600 });
    assert.ok(Date.parse(expires_at!) > Date.now() + 3_500_000);
    const { db } = kept.world.services.runtime;
    await db.system
      .updateTable('managed_files')
      .set({ expires_at: new Date(0) })
      .where('id', '=', id)
      .execute();
    await assert.rejects(kept.client.beta.files.download(id), { status: 404 });
    assert.ok(!(await all(kept.client.beta.files.list())).some((one) => one.id === id));
  });

  it('that are too large, too many bytes together, or not a form are refused', async () => {
    const large = Buffer.alloc(11 * 1024 * 1024);
    await assert.rejects(
      kept.other.beta.files.upload({ file: await toFile(large, 'large.bin') }),
      isRefused(413, 'request_too_large', /10 MB/),
    );
    await assert.rejects(kept.upload('a', Buffer.alloc(26 * 1024 * 1024)), { status: 413 });
    await assert.rejects(
      kept.upload('a', Buffer.from('x'), { expires_in_seconds: 5 }),
      isRefused(400, 'invalid_request_error', /expires_in_seconds/),
    );
    await assert.rejects(kept.client.beta.files.list({ scope_id: 'sesn_1' }), { status: 400, message: /scope_id/ });
    const { db } = kept.world.services.runtime;
    const { id } = await kept.upload();
    await db.system
      .updateTable('managed_files')
      .set({ bytes: 500 * 1024 * 1024 })
      .where('id', '=', id)
      .execute();
    await assert.rejects(kept.upload(), isRefused(429, 'rate_limit_error', /500 MB together/));
    await kept.client.beta.files.delete(id);
  });

  it('are not what clients of OpenAI look for there, and they are told so in their own shape', async () => {
    const openai = new OpenAI({
      baseURL: `${kept.world.services.backend}/v1`,
      apiKey: kept.world.user.key,
      maxRetries: 0,
    });
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
    const file = await kept.upload('notes.txt', Buffer.from('remember'));
    const resources = [{ type: 'file' as const, file_id: file.id }];
    const made = await kept.client.beta.sessions.create({
      agent: kept.agent,
      environment_id: kept.environment,
      resources,
    });
    const [first] = made.resources as { id: string; mount_path: string }[];
    assert.equal(first!.mount_path, 'uploads/notes.txt');
    const read = async (path: string) =>
      (
        await fetch(
          `${kept.world.services.web}/api/agents/${kept.agent}/files/content?path=${encodeURIComponent(path)}`,
          {
            headers: { authorization: `Bearer ${kept.world.user.key}` },
          },
        )
      ).text();
    assert.equal(await read('uploads/notes.txt'), 'remember');
    const again = await kept.client.beta.sessions.resources.add(made.id, { type: 'file', file_id: file.id });
    assert.equal(again.mount_path, 'uploads/notes-2.txt');
    const named = await kept.client.beta.sessions.resources.add(made.id, {
      type: 'file',
      file_id: file.id,
      mount_path: '/given/in.txt',
    });
    assert.equal(named.mount_path, 'given/in.txt');
    assert.equal(await read('given/in.txt'), 'remember');
    const listed = await all(kept.client.beta.sessions.resources.list(made.id, { limit: 2 }));
    assert.deepEqual(
      listed.map((one) => (one as { id: string }).id),
      [first!.id, again.id, named.id],
    );
    assert.deepEqual(await kept.client.beta.sessions.resources.retrieve(named.id, { session_id: made.id }), named);
    await kept.client.beta.sessions.resources.delete(named.id, { session_id: made.id });
    assert.match(await read('given/in.txt'), /File not found/);
    await assert.rejects(kept.client.beta.sessions.resources.retrieve(named.id, { session_id: made.id }), {
      status: 404,
    });
    await assert.rejects(
      kept.client.beta.sessions.resources.update(again.id, { session_id: made.id, authorization_token: 't' }),
      isRefused(400, 'invalid_request_error', /authorization_token/),
    );
  });

  it('that are refused leave nothing behind', async () => {
    const file = await kept.upload('left.txt');
    const before_ = (await all(kept.client.beta.sessions.list({ agent_id: kept.agent }))).length;
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
        kept.client.beta.sessions.create({
          agent: kept.agent,
          environment_id: kept.environment,
          resources: more as never,
        }),
        { message },
      );
    assert.equal((await all(kept.client.beta.sessions.list({ agent_id: kept.agent }))).length, before_);
    const left = await kept.ask('GET', `/api/agents/${kept.agent}/files?path=uploads`);
    assert.ok(!JSON.stringify(left.body).includes('left.txt'), JSON.stringify(left.body));
  });
});

describe('threads', () => {
  it('are one for each session, with its events', async () => {
    const hello = says('hello');
    const made = await kept.client.beta.sessions.create({
      agent: kept.agent,
      environment_id: kept.environment,
      initial_events: [hello],
    });
    const threads = await all(kept.client.beta.sessions.threads.list(made.id));
    assert.equal(threads.length, 1);
    const [thread] = threads;
    assert.deepEqual([thread!.session_id, thread!.parent_thread_id], [made.id, null]);
    const found = await kept.client.beta.sessions.threads.retrieve(thread!.id, { session_id: made.id });
    assert.equal(found.agent.type, 'agent');
    const stream = await kept.client.beta.sessions.threads.events.stream(thread!.id, { session_id: made.id });
    await kept.client.beta.sessions.events.send(made.id, { events: [hello] });
    for await (const event of stream) if (event.type === 'session.status_idle') break;
    const events = await all(kept.client.beta.sessions.threads.events.list(thread!.id, { session_id: made.id }));
    assert.deepEqual(events, await all(kept.client.beta.sessions.events.list(made.id)));
    await assert.rejects(
      kept.client.beta.sessions.threads.archive(thread!.id, { session_id: made.id }),
      isRefused(400, 'invalid_request_error', /one thread/),
    );
    await assert.rejects(kept.client.beta.sessions.threads.retrieve('sthr_x', { session_id: made.id }), {
      status: 404,
    });
  });
});

describe('what is not there', () => {
  it('is refused by its name, in the shape of the protocol', async () => {
    const asks: [RegExp, () => Promise<unknown>][] = [
      [/^dreams/, async () => kept.client.beta.dreams.list()],
      [/^tunnels/, async () => kept.client.beta.tunnels.list()],
      [/^user_profiles/, async () => kept.client.beta.userProfiles.list()],
      [/^work/, async () => kept.client.beta.environments.work.list(kept.environment)],
      [/^batches/, async () => kept.client.messages.batches.list()],
    ];
    for (const [message, one] of asks) await assert.rejects(one(), isRefused(404, 'not_found_error', message));
  });
});
