import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat, type StandInRequest } from '@troupe/ai';
import { reset } from '@troupe/testing/services/world';
import { all, isRefused, MODEL, says, startKept, type Kept } from './testing.ts';

/** Anthropic’s own client keeps texts, and its sessions read and write them. */

let kept: Kept;
before(async () => {
  kept = await startKept();
});
after(() => kept.world.stop());
beforeEach(() => reset(kept.world));

const shaOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const stores = () => kept.client.beta.memoryStores;
const lastOf = ({ body }: StandInRequest) => (body['messages'] as { role: string; content: string }[]).at(-1)!;

describe('memory stores', () => {
  it('are made, changed, listed, archived and deleted', async () => {
    const made = await stores().create({ name: 'Notes', description: 'What we know', metadata: { team: 'a' } });
    assert.match(made.id, /^memstore_/);
    assert.deepEqual(
      [made.type, made.name, made.description, made.archived_at],
      ['memory_store', 'Notes', 'What we know', null],
    );
    const changed = await stores().update(made.id, { name: 'Facts', metadata: { team: null, of: 'us' } });
    assert.deepEqual([changed.name, changed.metadata], ['Facts', { of: 'us' }]);
    assert.deepEqual(await stores().retrieve(made.id), changed);
    const other = await stores().create({ name: 'Other' });
    const from = { 'created_at[gte]': other.created_at };
    assert.deepEqual(
      (await all(stores().list(from))).map(({ id }) => id),
      [other.id],
    );
    assert.ok((await stores().archive(other.id)).archived_at);
    assert.deepEqual(
      (await all(stores().list({ limit: 1 }))).map(({ id }) => id),
      [made.id],
    );
    assert.equal((await all(stores().list({ include_archived: true }))).length, 2);
    await assert.rejects(
      stores().memories.create(other.id, { path: '/a', content: 'x' }),
      isRefused(400, 'invalid_request_error', /archived/),
    );
    for (const { id } of [made, other]) assert.equal((await stores().delete(id)).type, 'memory_store_deleted');
    await assert.rejects(stores().retrieve(made.id), isRefused(404, 'not_found_error', /Memory store not found/));
  });

  it('hold texts by path, none in another’s way, and what they were', async () => {
    const { id: store } = await stores().create({ name: 'Tree' });
    const { memories, memoryVersions: versions } = stores();
    const at = { memory_store_id: store };
    const first = await memories.create(store, { path: '/projects/a.md', content: 'one' });
    assert.deepEqual([first.content, first.content_sha256, first.content_size_bytes], [null, shaOf('one'), 3]);
    assert.equal((await memories.retrieve(first.id, at)).content, 'one');
    for (const path of ['/projects/a.md', '/projects/a.md/deeper', '/projects'])
      await assert.rejects(
        memories.create(store, { path, content: 'x' }),
        (error: { status: number; error: object }) => {
          const { error: inner } = error.error as { error: Record<string, string> };
          assert.deepEqual(
            [error.status, inner['type'], inner['conflicting_memory_id'], inner['conflicting_path']],
            [409, 'memory_path_conflict_error', first.id, '/projects/a.md'],
          );
          return true;
        },
      );
    for (const path of ['a', '/', '/a//b', '/a/../b', '/a\u200b'])
      await assert.rejects(
        memories.create(store, { path, content: '' }),
        isRefused(400, 'invalid_request_error', /path/),
      );
    await assert.rejects(
      memories.create(store, { path: '/large', content: 'é'.repeat(51_201) }),
      isRefused(400, 'invalid_request_error', /102,400/),
    );
    const stale = { type: 'content_sha256' as const, content_sha256: shaOf('two') };
    await assert.rejects(
      memories.update(first.id, { ...at, content: 'three', precondition: stale }),
      isRefused(409, 'memory_precondition_failed_error', /another one/),
    );
    const seen = { type: 'content_sha256' as const, content_sha256: shaOf('one') };
    const second = await memories.update(first.id, {
      ...at,
      content: 'two',
      path: '/projects/b.md',
      precondition: seen,
      view: 'full',
    });
    assert.deepEqual([second.id, second.path, second.content], [first.id, '/projects/b.md', 'two']);
    const same = await memories.update(first.id, { ...at, content: 'two' });
    assert.equal(same.memory_version_id, second.memory_version_id, 'nothing changed, nothing is told');

    await memories.create(store, { path: '/readme.md', content: 'hello' });
    await memories.create(store, { path: '/projects/deep/c.md', content: '' });
    const listed = async (more: object) =>
      (await all(memories.list(store, more))).map(({ type, path }) => [type, path]);
    assert.deepEqual(await listed({ limit: 2 }), [
      ['memory', '/projects/b.md'],
      ['memory', '/projects/deep/c.md'],
      ['memory', '/readme.md'],
    ]);
    assert.deepEqual(await listed({ depth: 1 }), [
      ['memory_prefix', '/projects/'],
      ['memory', '/readme.md'],
    ]);
    assert.deepEqual(await listed({ depth: 1, path_prefix: '/projects/' }), [
      ['memory', '/projects/b.md'],
      ['memory_prefix', '/projects/deep/'],
    ]);

    const history = await all(versions.list(store, { memory_id: first.id, view: 'full' }));
    assert.deepEqual(
      history.map(({ operation, path, content }) => [operation, path, content]),
      [
        ['modified', '/projects/b.md', 'two'],
        ['created', '/projects/a.md', 'one'],
      ],
    );
    assert.equal(history[0]!.created_by?.type, 'api_actor');
    await assert.rejects(versions.redact(history[0]!.id, at), isRefused(400, 'invalid_request_error', /is now/));
    const forgotten = await versions.redact(history[1]!.id, at);
    assert.deepEqual([forgotten.content, forgotten.path, forgotten.content_sha256], [null, null, null]);
    assert.ok(forgotten.redacted_at && forgotten.redacted_by);
    await assert.rejects(
      memories.delete(first.id, { ...at, expected_content_sha256: shaOf('one') }),
      isRefused(409, 'memory_precondition_failed_error', /another one/),
    );
    assert.equal((await memories.delete(first.id, at)).type, 'memory_deleted');
    const [gone] = await all(versions.list(store, { memory_id: first.id, operation: 'deleted' }));
    assert.deepEqual([gone?.path, gone?.content_sha256], ['/projects/b.md', null]);
    await assert.rejects(memories.retrieve(first.id, at), isRefused(404, 'not_found_error', /Memory not found/));
  });

  it('keep ten versions of a text, and no two writers make two of one path', async () => {
    const { id: store } = await stores().create({ name: 'Busy' });
    const { memories, memoryVersions: versions } = stores();
    const tried = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => memories.create(store, { path: '/same', content: `${n}` })),
    );
    assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1);
    const [memory] = await all(memories.list(store));
    const id = (memory as { id: string }).id;
    for (let n = 0; n < 12; n += 1) await memories.update(id, { memory_store_id: store, content: `change ${n}` });
    assert.equal((await all(versions.list(store))).length, 10);
  });

  it('of others are not there', async () => {
    const { id: store } = await stores().create({ name: 'Mine' });
    const memory = await stores().memories.create(store, { path: '/a', content: 'mine' });
    const theirs = kept.other.beta.memoryStores;
    const none = isRefused(404, 'not_found_error', /Memory store not found/);
    await assert.rejects(theirs.retrieve(store), none);
    await assert.rejects(theirs.memories.retrieve(memory.id, { memory_store_id: store }), none);
    await assert.rejects(theirs.memories.create(store, { path: '/b', content: 'x' }), none);
    await assert.rejects(theirs.memoryVersions.list(store), none);
    assert.deepEqual(await all(theirs.list()), []);
  });
});

/** A model that makes one call and says what came of it. */
function calls(tool: string, args: object): void {
  kept.world.openrouter.answer((request, response) => {
    const last = lastOf(request);
    if (last.role === 'tool') return replyChat(request, response, { content: `came: ${last.content}` });
    const call = { id: 'c', name: tool, arguments: JSON.stringify(args) };
    replyChat(request, response, { content: null, toolCalls: [call] });
  });
}

async function said(session: string): Promise<string> {
  const { beta } = kept.client;
  const stream = await beta.sessions.events.stream(session);
  await beta.sessions.events.send(session, { events: [says('Go on.')] });
  let words = '';
  for await (const event of stream) {
    if (event.type === 'agent.message')
      words += event.content.map((block) => ('text' in block ? block.text : '')).join('');
    if (event.type === 'session.status_idle') return words;
  }
  throw new Error('the stream ended');
}

describe('sessions with memory stores', () => {
  it('read and write them, and those to be read only they do not change', async () => {
    const { beta } = kept.client;
    const notes = await stores().create({ name: 'notes', description: 'Of the team' });
    const rules = await stores().create({ name: 'rules' });
    await stores().memories.create(rules.id, { path: '/first.md', content: 'Be kind.' });
    const agent = (await beta.agents.create({ name: 'Rememberer', model: MODEL })).id;
    const resources = [
      { type: 'memory_store' as const, memory_store_id: notes.id, instructions: 'Write down names.' },
      { type: 'memory_store' as const, memory_store_id: rules.id, access: 'read_only' as const },
    ];
    const begin = (more: object = {}) =>
      beta.sessions.create({ agent, environment_id: kept.environment, resources, ...more });
    const session = await begin();
    const told = session.resources as { type: string; name?: string; access?: string; instructions?: string | null }[];
    assert.deepEqual(
      told.map(({ type, name, access, instructions }) => [type, name, access, instructions]),
      [
        ['memory_store', 'notes', 'read_write', 'Write down names.'],
        ['memory_store', 'rules', 'read_only', null],
      ],
    );
    calls('write_memory_file', { store: 'notes', path: '/people/ada.md', content: 'Ada likes tea.' });
    assert.match(await said(session.id), /is kept in notes/);
    const prompt = JSON.stringify(kept.world.openrouter.requests.at(-1)!.body);
    assert.match(prompt, /notes.*to read and write.*Of the team Write down names/);
    const [written] = await all(stores().memories.list(notes.id, { view: 'full' }));
    assert.ok(written?.type === 'memory' && written.content === 'Ada likes tea.');
    const [version] = await all(stores().memoryVersions.list(notes.id, { session_id: session.id }));
    assert.deepEqual(version?.created_by, { type: 'session_actor', session_id: session.id });
    calls('write_memory_file', { store: 'rules', path: '/first.md', content: 'Be rude.' });
    assert.match(await said(session.id), /to be read only/);
    // What one session wrote, the next reads.
    const next = await begin();
    calls('read_memory_file', { store: 'notes', path: '/people/ada.md' });
    assert.match(await said(next.id), /Ada likes tea/);
    calls('list_memory_files', {});
    assert.match(await said(next.id), /notes: \/people\/ada.md.*rules: \/first.md/s);
    calls('delete_memory_file', { store: 'notes', path: '/people/ada.md' });
    assert.match(await said(next.id), /is deleted/);
    assert.deepEqual(await all(stores().memories.list(notes.id)), []);
  });

  it('without any have no such tools, whatever the model calls', async () => {
    const { beta } = kept.client;
    const session = await beta.sessions.create({ agent: kept.agent, environment_id: kept.environment });
    calls('list_memory_files', {});
    assert.match(await said(session.id), /There is no tool list_memory_files/);
    assert.ok(!JSON.stringify(kept.world.openrouter.requests[0]!.body['tools'] ?? []).includes('memory_file'));
  });

  it('that ask for what is not there are refused, and nothing is made', async () => {
    const { beta } = kept.client;
    const store = await stores().create({ name: 'once' });
    const resource = { type: 'memory_store' as const, memory_store_id: store.id };
    const base = { agent: kept.agent, environment_id: kept.environment };
    const before = (await all(beta.sessions.list())).length;
    for (const [resources, status, type, text] of [
      [[resource, resource], 400, 'invalid_request_error', /once/],
      [[{ ...resource, memory_store_id: 'memstore_x' }], 404, 'not_found_error', /Memory store not found/],
      [Array.from({ length: 9 }, () => resource), 400, 'invalid_request_error', /8 memory stores/],
    ] as const)
      await assert.rejects(beta.sessions.create({ ...base, resources: [...resources] }), isRefused(status, type, text));
    assert.equal((await all(beta.sessions.list())).length, before);
  });
});
