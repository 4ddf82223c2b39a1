import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import type { FoundConversation } from '@troupe/contract';
import { send } from '@troupe/testing/services/people';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

/** One search over everything that somebody's agents have: more agents than a browser could ask one by one. */

const MANY = 60;

let web: TestWeb;
let ann: Person;

interface Said {
  id: string;
  agent: string;
  title?: string;
  root?: string;
  words: string[];
}

async function conversation({ id, agent, title, root, words }: Said): Promise<void> {
  const { system } = web.deps.db;
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, last_seq, title, root_id)
    values (${id}, ${agent}, ${ann.id}, 'api', ${id}, ${words.length}, ${title ?? null}, ${root ?? null})`.execute(
    system,
  );
  for (const [at, content] of words.entries()) {
    const data = JSON.stringify({ type: at % 2 === 0 ? 'user' : 'assistant', content });
    await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
      values (${id}, ${at + 1}, ${agent}, ${ann.id}, ${data}::jsonb)`.execute(system);
  }
}

before(async () => {
  web = await startWeb();
  ann = await web.signUp();
  const { system } = web.deps.db;
  const agents = Array.from({ length: MANY }, (_, n) => ({
    id: `a${n}`,
    user_id: ann.id,
    name: `Agent ${n}`,
    status: 'running' as const,
  }));
  await system.insertInto('agents').values(agents).execute();
  for (const { id } of agents) await conversation({ id: `s-${id}`, agent: id, words: [`Hello ${id}`, 'Good day'] });
  await conversation({ id: 'tour', agent: 'a59', title: 'Spring tour', words: ['Where to?', 'Berlin is on 5 May.'] });
  await conversation({ id: 'tour-2', agent: 'a59', title: 'Spring tour', root: 'tour', words: ['Where else?'] });
  await conversation({ id: 'press', agent: 'a3', words: ['Who writes?', 'ÄRZTE write; 100% of [them].'] });
  await sql`insert into blob_trees (id, user_id, agent_id, name) values ('t', ${ann.id}, 'a7', 'workspace')`.execute(
    system,
  );
  await sql`insert into blob_files (tree_id, user_id, path, kind, mode, size, version)
    values ('t', ${ann.id}, 'reports', 'folder', 0, 0, 1), ('t', ${ann.id}, 'reports/May.pdf', 'file', 0, 1, 1),
      ('t', ${ann.id}, 'reports/gone.pdf', 'gone', 0, 1, 1)`.execute(system);
});
after(() => web.stop());

const find = async (q: string, who = ann) => (await who.ask('GET', `/api/search?q=${encodeURIComponent(q)}`)).body;
const talks = async (q: string) =>
  ((await find(q)).conversations as FoundConversation[]).map(({ agentName, sessionId, title, seq }) => [
    agentName,
    sessionId,
    title,
    seq,
  ]);

test('a conversation of any agent is found by its title, in any order and case, and its branches are one', async () => {
  assert.deepEqual((await talks('TOUR spring')).length, 1);
  const [[agentName, , title, seq] = []] = await talks('TOUR spring');
  assert.deepEqual([agentName, title, seq], ['Agent 59', 'Spring tour', null]);
});

test('by what was said, with the message; where the first words are its title, without', async () => {
  assert.deepEqual(await talks('may berlin'), [['Agent 59', 'tour', 'Spring tour', 2]]);
  assert.deepEqual(await talks('hello a17'), [['Agent 17', 's-a17', 'Hello a17', null]]);
  assert.equal((await talks('good day')).length, 20);
});

test('what is typed is no pattern, and letters of any language have two cases', async () => {
  assert.deepEqual(await talks('ärzte 100% [them]'), [['Agent 3', 'press', 'Who writes?', 2]]);
  for (const q of ['.*', '(', '['.repeat(200), '\\', '%'])
    assert.deepEqual(await talks(q), q === '%' ? await talks('100%') : []);
});

test('agents are found by name, files by path', async () => {
  assert.deepEqual((await find('agent 41')).agents, [{ id: 'a41', name: 'Agent 41' }]);
  const file = { agentId: 'a7', agentName: 'Agent 7' };
  assert.deepEqual((await find('reports may')).files, [{ ...file, path: 'reports/May.pdf', isFolder: false }]);
  assert.equal((await find('gone.pdf')).files.length, 0);
});

test('nobody finds what is somebody else’s, and a search needs words', async () => {
  const stranger = await web.signUp();
  for (const q of ['spring tour', 'hello', 'agent', 'reports'])
    assert.deepEqual(await find(q, stranger), { agents: [], conversations: [], files: [], unread: [] });
  assert.equal((await send(`${web.address}/api/search?q=x`, 'GET')).status, 401);
  for (const q of ['', '   ', 'x'.repeat(201)])
    assert.deepEqual(await find(q), { error: 'q must have 1 to 200 characters' });
});
