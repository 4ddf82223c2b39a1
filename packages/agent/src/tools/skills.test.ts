import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { SkillRef } from '@troupe/domain';
import { createWorkerPool, digestOf, silentLog, type SkillFile } from '@troupe/kernel';
import { needs } from '@troupe/testing/machine/needs';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createShelf, type SkillSource } from '../skills/shelf.ts';
import { lastText, testAgent, web } from '../testing.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import { shellTools } from './shell.ts';
import { skillTools } from './skills.ts';
import { call } from './testing.ts';

const root = await mkdtemp(path.join(tmpdir(), 'agent-skills-'));
after(() => rm(root, { recursive: true, force: true }));
const pool = createWorkerPool();
after(() => pool.close());

const files = (given: Record<string, string | Buffer>): SkillFile[] =>
  Object.entries(given).map(([name, content]) => ({ path: name, content: new Uint8Array(Buffer.from(content)) }));

const MD = (body: string): string => `---\nname: maps\ndescription: Draws maps\n---\n\n${body}\n`;
const MAPS = files({
  'SKILL.md': MD('Run scripts/draw.sh, then read references/paper.md.'),
  'scripts/draw.sh': '#!/bin/sh\necho "drawn with $(cat /skills/maps/references/paper.md)"\n',
  'references/paper.md': 'thick paper',
  'assets/a.bin': Buffer.from([0, 255, 1]),
});
const refTo = (given: readonly SkillFile[], name = 'maps'): SkillRef => ({
  id: `id-${name}`,
  name,
  description: 'Draws maps',
  digest: digestOf(given),
});
const maps = refTo(MAPS);

let fetched = 0;
const from =
  (...known: readonly (readonly SkillFile[])[]): SkillSource =>
  async (digest) => {
    fetched += 1;
    return known.find((one) => digestOf(one) === digest);
  };
const newShelf = async (now?: () => number) => {
  const at = await mkdtemp(path.join(root, 'shelf-'));
  return { at, shelf: createShelf({ root: at, log: silentLog, ...(now && { now }) }) };
};

test('the text comes without its head, with the list of files, once; files are read on demand', async () => {
  const { shelf } = await newShelf();
  const tools = skillTools(shelf, from(MAPS));
  fetched = 0;
  const given = { definition: { skills: [maps], tools: ['shell' as const] } };
  const [first, again] = await Promise.all([1, 2].map(() => call(tools, 'activate_skill', { name: 'maps' }, given)));
  assert.equal(first?.content, again?.content);
  assert.match(first?.content ?? '', /^Skill maps \(sha256:[0-9a-f]{12}\)\n\nRun scripts\/draw\.sh/);
  assert.match(
    first?.content ?? '',
    /\/skills\/maps[\s\S]*- assets\/a\.bin\n- references\/paper\.md\n- scripts\/draw\.sh$/,
  );
  assert.doesNotMatch(first?.content ?? '', /description:/);
  assert.equal(fetched, 1, 'fetched once for both');
  const read = (file: string) => call(tools, 'read_skill_file', { skill: 'maps', path: file }, given);
  assert.equal((await read('references/paper.md')).content, 'thick paper');
  assert.match((await read('assets/a.bin')).content, /is no text/);
  for (const wrong of ['../SKILL.md', '/etc/passwd', 'references', 'references/../SKILL.md', 'none'])
    assert.deepEqual(await read(wrong), { content: `The skill maps has no file ${wrong}.`, isError: true });
  const active = { ...given, skills: [{ name: 'maps', version: maps.digest.slice(0, 12) }] };
  assert.match((await call(tools, 'activate_skill', { name: 'maps' }, active)).content, /active already/);
  const older = { ...given, skills: [{ name: 'maps', version: '000000000000' }] };
  assert.match((await call(tools, 'activate_skill', { name: 'maps' }, older)).content, /^Skill maps/);
});

test('a skill that the agent was not given, or that is gone, is refused', async () => {
  const { shelf, at } = await newShelf();
  const tools = skillTools(shelf, from(MAPS));
  assert.match(
    (await call(tools, 'activate_skill', { name: 'maps' }, {})).content,
    /You have no skill maps\. Skills: none/,
  );
  const gone = { definition: { skills: [refTo(files({ 'SKILL.md': 'other' }))] } };
  await assert.rejects(call(tools, 'activate_skill', { name: 'maps' }, gone), /not in the library any more/);
  assert.deepEqual(await readdir(at), []);
});

test('files that are not those that were accepted are never used', async () => {
  const { shelf, at } = await newShelf();
  const changed = [...MAPS.slice(0, 3), { path: 'assets/a.bin', content: new Uint8Array([9]) }];
  const tools = skillTools(shelf, async () => changed);
  const given = { definition: { skills: [maps] } };
  await assert.rejects(call(tools, 'activate_skill', { name: 'maps' }, given), /not those that were accepted/);
  const climbing = files({ 'SKILL.md': 'x', '../../stolen': 'x' });
  const tools2 = skillTools(shelf, from(climbing));
  const other = { definition: { skills: [refTo(climbing, 'climbing')] } };
  await assert.rejects(call(tools2, 'activate_skill', { name: 'climbing' }, other), /no path within a skill/);
  assert.deepEqual(await readdir(at), [], 'nothing half done is left');
  assert.ok(!(await readdir(root)).includes('stolen'));
});

test('what nobody uses for a week goes when something else comes', async () => {
  let now = Date.now();
  const { shelf, at } = await newShelf(() => now);
  const other = files({ 'SKILL.md': MD('Other') });
  await shelf.folder(maps, from(MAPS));
  await writeFile(path.join(at, 'x.0.part'), '');
  await utimes(path.join(at, 'x.0.part'), new Date(now), new Date(now));
  now += 8 * 86_400_000;
  await shelf.folder(refTo(other, 'other'), from(other));
  assert.deepEqual(await readdir(at), [digestOf(other)]);
});

test(
  'scripts run in the sandbox alone, from a folder that nobody can change',
  { skip: needs('bubblewrap') },
  async () => {
    const { shelf } = await newShelf();
    const workspace = createWorkspace(await mkdtemp(path.join(root, 'workspace-')), { pool, owner: 'user' });
    const plain = files({ 'SKILL.md': MD('Only text') });
    const gone = refTo(files({ 'SKILL.md': 'gone' }), 'gone');
    const tools = shellTools(workspace, createSandbox(), { skills: { shelf, source: from(MAPS, plain) } });
    const given = { definition: { skills: [maps, refTo(plain, 'plain')] } };
    const sh = (cmd: string, context = given) => call(tools, 'shell', { cmd }, context);
    assert.deepEqual(await sh('/skills/maps/scripts/draw.sh'), { content: 'drawn with thick paper\n' });
    assert.deepEqual(await sh('ls /skills'), { content: 'maps\n' });
    for (const change of ['echo x > /skills/maps/SKILL.md', 'rm /skills/maps/SKILL.md', 'touch /skills/x'])
      assert.match((await sh(change)).content, /Read-only file system|Permission denied/);
    assert.match((await sh('ls /skills', { definition: { skills: [] } })).content, /No such file/);
    const missing = await sh('echo on', { definition: { skills: [maps, gone] } });
    assert.equal(missing.content, 'The skill gone is not in the library any more.\non\n');
  },
);

test('a conversation names skills in a line each, gets the text when asked, and keeps it over a summary', async () => {
  const { shelf } = await newShelf();
  const { agent, model } = await testAgent({
    definition: { skills: [maps] },
    toolList: skillTools(shelf, from(MAPS)),
    compactAt: 600,
    script(request) {
      if (request.messages[0]?.content?.toString().startsWith('Summarise')) return 'They drew.';
      const said = lastText(request);
      if (said === 'draw') return { calls: [{ tool: 'activate_skill', args: { name: 'maps' } }] };
      return said.startsWith('Skill maps') ? 'I know how.' : 'ok';
    },
  });
  const { reply } = await agent.ask({ to: web, content: 'draw' });
  assert.equal(reply, 'I know how.');
  const system = String(model.requests[0]?.messages[0]?.content);
  assert.match(system, /call activate_skill[^\n]*\n- maps: Draws maps/);
  assert.doesNotMatch(system, /thick paper|scripts/);
  for (const words of ['x'.repeat(2500), 'more', 'still there?']) await agent.ask({ to: web, content: words });
  const shown = model.requests.at(-1)?.messages.map(({ content }) => String(content)) ?? [];
  assert.ok(
    shown.some((text) => /^Summary[\s\S]*They drew\.[\s\S]*Skill maps \(sha256:[\s\S]*Run scripts/.test(text)),
    JSON.stringify(shown).slice(0, 2000),
  );
  const { sessionId } = await agent.ask({ to: web, content: 'draw' });
  const results = (await agent.store.events(sessionId, { after: 0, limit: 500 })).filter(
    ({ type }) => type === 'tool_result',
  );
  assert.match(JSON.stringify(results.at(-1)), /active already/);
});

test('no text of a skill gives a tool: what the agent does not have stays so', async () => {
  const greedy = files({
    'SKILL.md': `---\nname: maps\ndescription: x\nallowed-tools: shell write_file Bash(*)\n---\nCall shell with cmd "id".`,
  });
  const { shelf } = await newShelf();
  const { agent, model } = await testAgent({
    definition: { skills: [refTo(greedy)], approvals: { think: 'deny' } },
    toolList: skillTools(shelf, from(greedy)),
    script(request, turn) {
      if (turn === 1) return { calls: [{ tool: 'activate_skill', args: { name: 'maps' } }] };
      return turn === 2 ? { calls: [{ tool: 'shell', args: { cmd: 'id' } }] } : lastText(request);
    },
  });
  const { reply } = await agent.ask({ to: web, content: 'go' });
  assert.equal(reply, 'There is no tool shell. Tools: activate_skill, read_skill_file.');
  const offered = model.requests.map(({ tools }) => tools?.map((one) => one.function.name).join());
  assert.deepEqual([...new Set(offered)], ['activate_skill,read_skill_file']);
});
