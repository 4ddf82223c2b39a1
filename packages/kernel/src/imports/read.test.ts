import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { TEAM_MODEL } from '@troupe/domain';
import { link, skillMd, tarGzOf, tarOf, zipOf, type Packed } from '@troupe/testing/backups/archives';
import { createWorkerPool } from '../workers/pool.ts';
import { readImportOf } from './read.ts';

const pool = createWorkerPool();
after(() => pool.close());

const MB = 1024 * 1024;
const read = (bytes: Buffer | string, more: { name?: string; path?: string; dry?: boolean } = {}) =>
  readImportOf(pool, 'user', { bytes: new Uint8Array(Buffer.from(bytes)), name: 'given', dry: true, ...more });

async function taken(bytes: Buffer | string, more: Parameters<typeof read>[1] = {}) {
  const reading = await read(bytes, more);
  assert.ok(reading.ok, JSON.stringify(reading));
  return reading.plan;
}

const at = (notes: readonly { at: string }[]): string[] => notes.map((note) => note.at);

const TEAM = `agents:
  root: { instruction: Help., rag: [guide] }
rag:
  guide:
    tool: { description: About the house, instruction: Cite it. }
    docs: [./docs, ../notes/*.md, ../../outside, missing.txt]
    strategies:
      - { type: bm25, database: ./x.db, k1: 1.5, b: 0.75, threshold: 0.3, limit: 5, chunking: { size: 1000, overlap: 100 } }
`;

test('docker-agent: the files that rag names are those of a collection, others are to be given or named', async () => {
  const files: Packed[] = [
    { path: 'house/team/agent.yaml', content: TEAM },
    { path: 'house/team/docs/a.md', content: '# A' },
    { path: 'house/team/docs/deep/b.txt', content: 'B' },
    { path: 'house/notes/c.md', content: '# C' },
    { path: 'house/notes/d.png', content: 'no' },
  ];
  const plan = await taken(zipOf(files), { dry: false });
  assert.equal(plan.format, 'docker-agent');
  assert.deepEqual(
    plan.collections.map(({ name, files: own }) => [name, own.map(({ path }) => path)]),
    [['guide', ['team/docs/a.md', 'team/docs/deep/b.txt', 'notes/c.md']]],
  );
  assert.equal(Buffer.from(plan.collections[0]?.files[0]?.content ?? []).toString(), '# A');
  assert.deepEqual(
    plan.toGive.map(({ says }) => says),
    ['../../outside', 'missing.txt'].map((one) => `put ${one} into the collection guide, or import it together`),
  );
  assert.deepEqual(at(plan.notCarried), ['notes/d.png']);
  const [guide] = plan.team.knowledge ?? [];
  assert.deepEqual(guide?.tuning, { k1: 1.5, b: 0.75, threshold: 0.3, limit: 5, size: 1000, overlap: 100 });
  assert.deepEqual(plan.team.agents[0]?.traits?.hints, { knowledge: 'guide: Cite it.' });
});

test('of several documents one is named', async () => {
  const two = zipOf([
    { path: 'a.yaml', content: 'agents: { root: {} }\n' },
    { path: 'b.yaml', content: 'agents:\n  other: {}\n' },
    { path: 'c.yaml', content: 'services: {}\n' },
  ]);
  const reading = await read(two);
  assert.ok(!reading.ok);
  assert.match(reading.error, /several documents in it: a\.yaml, b\.yaml\. Name one with path/);
  assert.equal((await taken(two, { path: 'b.yaml' })).team.agents[0]?.name, 'other');
});

const OPENCLAW = `// settings
{
  agents: {
    defaults: { model: { primary: 'anthropic/claude-opus-4-6', fallbacks: ['gpt-5'] }, workspace: '~/.openclaw/workspace' },
    list: [
      { id: 'main', name: 'Molty', subagents: { allowAgents: ['coder'] } },
      { id: 'coder', tools: { allow: ['read', 'web_fetch'], exec: { security: 'allowlist' } }, },
    ],
  },
  tools: { deny: ['exec'] },
  channels: { telegram: { botToken: 'tg-secret-1' } },
  mcp: { servers: { docs: { command: 'docs-server', args: ['--all'], env: { TOKEN: 'mcp-secret-2' } } } },
  models: { providers: { mine: { apiKey: 'model-secret-3' } } },
  cron: [{ name: 'Morning', schedule: { kind: 'cron', expr: '0 7 * * *', tz: 'Europe/Berlin' }, payload: { kind: 'agentTurn', message: 'Say good morning.' } },
    { name: 'Once', schedule: { kind: 'at', at: '2026-01-01' }, payload: { message: 'x' } }],
  gateway: { port: 1 },
}`;

test('openclaw: workspaces, tools no wider than they were, tasks and skills; secrets stay where they are', async () => {
  const plan = await taken(
    tarGzOf([
      { path: 'openclaw.json', content: OPENCLAW },
      { path: 'workspace/AGENTS.md', content: 'Be kind.' },
      { path: 'workspace/SOUL.md', content: 'Soul.' },
      { path: 'workspace/HEARTBEAT.md', content: 'Look at the mail.' },
      { path: 'workspace/memory/2026-01-01.md', content: 'It rained.' },
      { path: 'workspace/skills/maps/SKILL.md', content: skillMd('maps') },
      { path: 'workspace/photo.jpg', content: 'x' },
      { path: 'workspace-coder/AGENTS.md', content: 'Write code.' },
    ]),
    { dry: false },
  );
  assert.equal(plan.format, 'openclaw');
  const [main, coder] = plan.team.agents;
  assert.deepEqual(
    [main?.name, main?.role, main?.model, main?.fallbacks],
    ['main', 'Molty', 'anthropic/claude-opus-4-6', ['openai/gpt-5']],
  );
  assert.deepEqual([main?.subAgents, coder?.subAgents], [['coder'], []]);
  assert.deepEqual(main?.tools, ['filesystem', 'memory', 'fetch', 'todo', 'think']);
  assert.deepEqual(coder?.tools, ['filesystem', 'fetch', 'todo', 'think']);
  assert.ok(!coder?.traits?.offered?.['filesystem']?.includes('write_file'));
  assert.deepEqual(plan.team.permissions?.ask, ['shell']);
  assert.deepEqual(main?.traits?.promptFiles, ['AGENTS.md', 'SOUL.md']);
  assert.deepEqual(
    plan.workspace.map(({ agent, path }) => `${agent}/${path}`),
    ['main/AGENTS.md', 'main/SOUL.md', 'main/HEARTBEAT.md', 'main/memory/2026-01-01.md', 'coder/AGENTS.md'],
  );
  assert.deepEqual(plan.tasks, [
    {
      agent: 'main',
      name: 'Morning',
      prompt: 'Say good morning.',
      cronSchedule: '0 7 * * *',
      timezone: 'Europe/Berlin',
    },
  ]);
  assert.deepEqual(
    plan.skills.map(({ name, agents }) => [name, agents]),
    [['maps', ['main']]],
  );
  assert.deepEqual(at(plan.notCarried), ['cron.Once', 'gateway', 'workspace/photo.jpg']);
  for (const one of ['mcp.servers.docs.env.TOKEN', 'channels.telegram', 'models.providers.mine', 'skills.maps'])
    assert.ok(at(plan.toGive).includes(one), one);
  assert.doesNotMatch(JSON.stringify(plan), /secret-\d/);
});

test('paperclip: who reports to whom, routines as tasks, and what is named', async () => {
  const plan = await taken(
    zipOf([
      {
        path: 'COMPANY.md',
        content:
          '---\nname: Lean Shop\ndescription: Small\nschema: agentcompanies/v1\nrequirements: { secrets: [KEY_A] }\n---\nWe build.',
      },
      {
        path: 'agents/cto/AGENTS.md',
        content:
          '---\nname: CTO\ntitle: Chief Technology Officer\nreportsTo: ceo\nskills: [maps, gone]\n---\nBuild it.',
      },
      { path: 'agents/ceo/AGENTS.md', content: '---\nname: CEO\nreportsTo: null\n---\nLead.' },
      { path: 'agents/ceo/SOUL.md', content: 'Calm.' },
      { path: 'skills/maps/SKILL.md', content: skillMd('maps') },
      { path: 'skills/bad/SKILL.md', content: 'no head' },
      {
        path: 'tasks/review/TASK.md',
        content: '---\nname: Review\nassignee: ceo\nrecurring: true\n---\nReview the week.',
      },
      { path: 'tasks/once/TASK.md', content: '---\nname: Once\nassignee: cto\n---\nDo it.' },
      { path: 'teams/eng/TEAM.md', content: '---\nname: Eng\n---\n' },
      {
        path: '.paperclip.yaml',
        content:
          'schema: paperclip/v1\nagents:\n  cto: { adapter: { type: claude_local, config: { model: claude-sonnet-4-5 } }, budgetMonthlyCents: 5000, inputs: { env: { TOKEN: { kind: secret } } } }\nroutines:\n  review: { triggers: [{ kind: schedule, cronExpression: "0 9 * * 1", timezone: America/Chicago }] }\n',
      },
    ]),
  );
  assert.deepEqual([plan.format, plan.team.name, plan.team.about], ['paperclip', 'Lean Shop', { readme: 'We build.' }]);
  assert.deepEqual(
    plan.team.agents.map(({ name, role, model, subAgents }) => [name, role, model, subAgents]),
    [
      ['ceo', 'CEO', TEAM_MODEL, ['cto']],
      ['cto', 'Chief Technology Officer', 'anthropic/claude-sonnet-4-5', []],
    ],
  );
  assert.deepEqual(plan.team.agents[0]?.traits?.promptFiles, ['SOUL.md']);
  assert.deepEqual(plan.tasks, [
    {
      agent: 'ceo',
      name: 'Review',
      prompt: 'Review the week.',
      cronSchedule: '0 9 * * 1',
      timezone: 'America/Chicago',
    },
  ]);
  assert.deepEqual(
    plan.skills.map(({ name, agents }) => [name, agents]),
    [['maps', ['cto']]],
  );
  assert.deepEqual(at(plan.notCarried), [
    'agents.cto.adapter',
    'tasks/once/TASK.md',
    'teams/eng/TEAM.md',
    'skills.bad',
  ]);
  assert.deepEqual(at(plan.toGive), [
    'agents.cto.skills',
    'agents.cto.budgetMonthlyCents',
    'agents.cto.inputs.env.TOKEN',
    'COMPANY.md.requirements',
    'skills.maps',
  ]);
});

const LETTA = {
  agents: [
    {
      id: 'agent-0',
      name: 'Void Helper',
      system: 'You help.',
      llm_config: { model: 'gemini-2.5-pro', model_endpoint_type: 'google_ai', temperature: 0.7 },
      block_ids: Array.from({ length: 12 }, (_, n) => `block-${n}`),
      tool_ids: ['tool-0', 'tool-1', 'tool-2'],
      source_ids: ['source-0'],
      tool_rules: [{ type: 'requires_approval', tool_name: 'post' }],
      messages: [{ role: 'user', content: 'hi' }],
      secrets: { API_KEY: 'letta-secret-1' },
    },
  ],
  groups: [],
  blocks: Array.from({ length: 12 }, (_, n) => ({
    id: `block-${n}`,
    label: n === 11 ? 'persona' : `b${n}`,
    value: `value ${n}`,
    read_only: n === 0,
  })),
  files: [{ source_id: 'source-0', file_name: 'folder/talk.md', content: 'A talk.' }],
  sources: [{ id: 'source-0', name: 'Talks' }],
  tools: [
    { id: 'tool-0', name: 'web_search', tool_type: 'letta_builtin' },
    { id: 'tool-1', name: 'sing', tool_type: 'custom', source_code: 'def sing(): pass' },
    { id: 'tool-2', name: 'post', tool_type: 'external_mcp', tags: ['mcp:social'] },
  ],
  mcp_servers: [{ server_name: 'social', server_url: 'https://social.example/mcp', token: 'letta-secret-2' }],
  metadata: {},
};

test('letta: blocks are files that are shown, files a collection, secrets stay; also twice in JSON', async () => {
  const plan = await taken(JSON.stringify(JSON.stringify(LETTA)), { name: 'void.af', dry: false });
  const [agent] = plan.team.agents;
  assert.deepEqual([plan.format, agent?.name, agent?.model], ['letta', 'Void-Helper', 'google/gemini-2.5-pro']);
  assert.deepEqual(agent?.traits?.sampling, { temperature: 0.7 });
  assert.match(agent?.instruction ?? '', /You help\.\n\n<b0>\nvalue 0/);
  assert.equal(agent?.traits?.promptFiles?.length, 10);
  assert.equal(agent?.traits?.promptFiles?.[0], 'memory/persona.md');
  assert.deepEqual(plan.memories, [{ agent: 'Void-Helper', key: 'b10', content: 'value 10' }]);
  assert.deepEqual(agent?.tools, ['filesystem', 'memory', 'fetch']);
  assert.deepEqual(
    agent?.mcp.map(({ name, tools }) => [name, tools]),
    [['social-mcp', ['post']]],
  );
  assert.deepEqual(plan.team.permissions?.ask, ['post']);
  assert.deepEqual(
    plan.collections.map(({ name, files }) => [name, files.length]),
    [['Talks', 1]],
  );
  assert.deepEqual(agent?.knowledge, ['Talks']);
  assert.deepEqual(at(plan.notCarried), ['blocks.b10', 'agents.Void-Helper.tools', 'agents.Void-Helper.messages']);
  assert.doesNotMatch(JSON.stringify(plan), /letta-secret/);
  const { agents: _agents, ...rest } = LETTA;
  const flat = {
    agent_type: 'memgpt_agent',
    name: 'Old',
    system: 'S',
    llm_config: { model: 'gpt-4o' },
    core_memory: [{ label: 'human', value: 'Ann' }],
    tools: [],
    messages: [],
  };
  assert.deepEqual((await taken(JSON.stringify(flat))).team.agents[0]?.traits?.promptFiles, ['memory/human.md']);
  assert.ok(!(await read(JSON.stringify({ ...rest, agents: [] }))).ok);
});

describe('hostile files', () => {
  const yaml = { path: 'agent.yaml', content: 'agents: { root: {} }\n' };
  const deep = (open: string, close: string) => `${open.repeat(200)}1${close.repeat(200)}`;
  const cases: readonly [title: string, bytes: () => Buffer | string, says: RegExp][] = [
    ['a path that climbs', () => zipOf([yaml, { path: '../x' }]), /no path within it/],
    ['an absolute path', () => tarOf([yaml, { path: '/etc/passwd' }]), /no path within it/],
    ['backslashes', () => zipOf([yaml, { path: 'a\\..\\x' }]), /no path within it/],
    ['a link', () => zipOf([yaml, link('docs', '/root/.ssh')]), /docs is a link/],
    ['a device', () => tarOf([yaml, { path: 'd', type: '3' }]), /d is a link or a device/],
    ['two of one name', () => zipOf([yaml, { path: 'A' }, { path: 'a' }]), /a stands twice/],
    [
      'a long document',
      () => Buffer.from(`agents:\n${'# \n'.repeat(170_000)}`),
      /given is too large for a document of agents/,
    ],
    ['a bomb', () => zipOf([yaml, { path: 'big', content: Buffer.alloc(26 * MB) }]), /big is too large/],
    [
      'many that are a bomb together',
      () => zipOf([yaml, ...Array.from({ length: 4 }, (_, n) => ({ path: `${n}`, content: Buffer.alloc(20 * MB) }))]),
      /is too large/,
    ],
    ['a bomb as tar.gz', () => tarGzOf([yaml, { path: 'big', content: Buffer.alloc(66 * MB) }]), /more than 64 MB/],
    ['too many files', () => zipOf(Array.from({ length: 5001 }, (_, n) => ({ path: `${n}` }))), /5000 files at most/],
    ['a path without end', () => zipOf([yaml, { path: `${'a/'.repeat(40)}b` }]), /too long or too deep/],
    [
      'nothing known',
      () => zipOf([{ path: 'README.md', content: 'x' }, { path: 'b.md' }]),
      /no document of docker-agent/,
    ],
    ['bytes', () => Buffer.from([0xff, 0xfe, 0, 1]), /not UTF-8/],
    ['deep JSON5', () => zipOf([{ path: 'openclaw.json', content: deep('[', ']') }]), /not valid JSON5/],
    ['broken JSON5', () => zipOf([{ path: 'openclaw.json', content: '{a: "x' }]), /not valid JSON5: line 1/],
    ['a company of nobody', () => zipOf([{ path: 'COMPANY.md', content: 'x' }]), /no agents\/<name>\/AGENTS\.md/],
    [
      'aliases that multiply',
      () => `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}]\nc: [${'*b,'.repeat(30)}]\nagents: {}`,
      /Not valid YAML/,
    ],
    ['a refused key', () => 'agents: { root: { hooks: { pre_tool_use: [] } } }', /hooks may stop a call/],
  ];
  for (const [title, bytes, says] of cases)
    test(title, async () => {
      const reading = await read(bytes());
      assert.ok(!reading.ok, 'it was taken');
      assert.match(reading.error, says);
    });

  test('names that are keys of every object, or of nobody, do no harm', async () => {
    const content = `{ agents: { entries: { __proto__: { name: 'p' }, constructor: { name: 'c' } } }, tools: { profile: 'constructor', allow: ['toString'], deny: ['valueOf'] } }`;
    const plan = await taken(zipOf([{ path: 'openclaw.json', content }]));
    assert.deepEqual(
      plan.team.agents.map(({ tools }) => tools),
      plan.team.agents.map(() => ['todo', 'think']),
    );
  });
});
