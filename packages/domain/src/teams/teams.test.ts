import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { TEAM_TEMPLATES, teamFromCustom, teamFromTemplate, templateList } from './index.ts';
import { BUILT_IN_SKILLS } from '../skills/built-in.ts';
import { readTeamYaml, teamYaml } from './team-yaml.ts';

test('there are twelve templates of three agents, each with its category', () => {
  const { templates, categories } = templateList();
  assert.equal(templates.length, 12);
  assert.ok(templates.every(({ agent_count, agents }) => agent_count === 3 && agents.length === 3));
  assert.deepEqual(
    categories.map(({ label }) => label),
    ['Developer', 'Creator', 'Business', 'Personal'],
  );
  assert.deepEqual(categories.flatMap((one) => one.templates).sort(), templates.map(({ key }) => key).sort());
  assert.equal(templates[0]?.description, 'Product Manager + Engineer + QA');
});

test('a template’s YAML has the fields that were promised and reads back as the same team', () => {
  for (const template of TEAM_TEMPLATES) {
    const team = teamFromTemplate(template);
    const text = teamYaml(team);
    assert.deepEqual(readTeamYaml(text), { ok: true, team, notCarried: [], toGive: [] });
    const raw = parse(text) as { agents: Record<string, Record<string, unknown>> };
    for (const one of Object.values(raw.agents)) {
      for (const field of ['role', 'description', 'model', 'tools', 'memory_shared', 'instruction']) {
        assert.ok(field in one, `${template.key} lacks ${field}`);
      }
    }
  }
});

test('docker-agent’s toolsets are understood', () => {
  const reading = readTeamYaml(`
name: T
agents:
  root:
    model: m
    toolsets:
      - type: filesystem
      - type: mcp
        command: node
        args: [server.mjs]
        tools: [search]
  helper: {}
`);
  assert.ok(reading.ok);
  const [root] = reading.team.agents;
  assert.deepEqual(root?.tools, ['filesystem']);
  assert.equal(root?.mcp[0]?.command, 'node');
  assert.deepEqual(root?.subAgents, ['helper']);
});

test('skills are names of the library; what is elsewhere is refused, and a source widens nothing', () => {
  const of = (value: string) => readTeamYaml(`agents:\n  root:\n    skills: ${value}\n`);
  const named = (value: string) => {
    const reading = of(value);
    return reading.ok ? reading.team.agents[0]?.skills : reading.error;
  };
  assert.equal(named('true'), 'all');
  assert.equal(named('[local]'), 'all');
  assert.deepEqual(named('[local, commit]'), ['commit']);
  assert.deepEqual(named('[a-b, a-b, c]'), ['a-b', 'c']);
  assert.deepEqual(named('false'), []);
  assert.match(
    String(named('[https://skills.example]')),
    /agents\.root\.skills: skills are not fetched from addresses/,
  );
  assert.match(String(named('[../x]')), /\.\.\/x is no name of a skill/);
  assert.match(String(named('[{name: x, inline: y}]')), /skills must be true, false or a list of names/);
  assert.match(JSON.stringify(readTeamYaml('skills: {a: {}}\nagents: {root: {}}')), /not written into a team/);
  const reading = of('true');
  assert.ok(reading.ok);
  assert.deepEqual(readTeamYaml(teamYaml(reading.team)), reading);
});

test('every template has skills, each of them one that comes with the platform', () => {
  const known = new Set(BUILT_IN_SKILLS.map(({ name }) => name));
  for (const { key, agents } of TEAM_TEMPLATES)
    for (const { name, skills } of agents) {
      assert.ok(skills.length > 0, `${key}.${name}`);
      assert.deepEqual(
        skills.filter((one) => !known.has(one)),
        [],
      );
    }
  const used = new Set(TEAM_TEMPLATES.flatMap(({ agents }) => agents.flatMap(({ skills }) => skills)));
  assert.deepEqual(
    [...known].filter((name) => !used.has(name)),
    [],
  );
});

test('a file that docker-agent runs is a team', () => {
  const reading = readTeamYaml(`
version: "2"
metadata: { author: me, description: My crew }
models:
  claude: { provider: anthropic, model: claude-sonnet-4.5, max_tokens: 64000 }
agents:
  helper:
    model: openai/gpt-4o
    description: Helps
    instruction: You help.
    add_date: true
  root:
    model: claude
    description: Coordinates
    instruction: You coordinate.
    sub_agents: [helper]
    toolsets:
      - type: think
      - type: todo
        shared: true
      - type: memory
        path: ./team.db
`);
  assert.ok(reading.ok);
  const { name, description, agents } = reading.team;
  assert.deepEqual([name, description], ['Custom Team', 'My crew']);
  assert.deepEqual(
    agents.map((one) => [one.name, one.model, one.tools, one.subAgents]),
    [
      ['root', 'anthropic/claude-sonnet-4.5', ['think', 'todo', 'memory'], ['helper']],
      ['helper', 'openai/gpt-4o', [], []],
    ],
  );
  assert.deepEqual(readTeamYaml(teamYaml(reading.team)), reading);
});

test('what is wrong is named', () => {
  const wrong: [string, RegExp][] = [
    ['a: [', /^Not valid YAML/],
    ['agents: {}\nagents: {}', /^Not valid YAML: the key agents stands twice/],
    ['name: T', /^Invalid team: agents/],
    ['name: T\nagents: {}', /at least one agent/],
    ['name: T\nagents: { a: { tools: [rocket] } }', /agents\.a\.tools\.0: unknown tool/],
    ['name: T\nagents: { "../x": {} }', /agent names are/],
    ['name: T\nagents: { a: { sub_agents: [b] } }', /b is not another agent/],
    ['name: T\nagents: { a: { toolsets: [{ type: mcp }] } }', /agents\.a\.toolsets/],
    [
      'agents: { a: { toolsets: [{ type: rocket }] } }',
      /agents\.a\.toolsets\.0: unknown toolset rocket; known are filesystem/,
    ],
    ['agents: { a: { toolsets: [{ type: mcp, ref: nobody }] } }', /toolsets\.0\.ref: nobody is not among mcps/],
    ['agents: { a: { toolsets: [{ type: mcp, name: shell, command: x }] } }', /own tools are named shell/],
    ['agents: { a: { temprature: 1 } }', /agents\.a\.temprature: unknown key; known are role/],
    ['agents: { a: { toolsets: [{ type: shell, yolo: true }] } }', /agents\.a\.toolsets\.0\.yolo: unknown key/],
    ['permissions: { allow: ["x[a]"] }\nagents: { a: {} }', /permissions\.allow\.0: a pattern has/],
    ['permissions: { alow: [x] }\nagents: { a: {} }', /permissions: Unrecognized key: "alow"/],
    [
      'models: { m: { provider: p, model: x, thinking_budget: much } }\nagents: { a: { model: m } }',
      /models\.m\.thinking_budget: must be/,
    ],
  ];
  for (const [text, expected] of wrong) {
    const reading = readTeamYaml(text);
    assert.ok(!reading.ok);
    assert.match(reading.error, expected);
  }
});

test('custom agents make a team whose first agent leads', () => {
  const one = (name: string) => ({
    name,
    role: 'R',
    description: 'd',
    instruction: 'i: "quoted"\n- and more',
    model: 'm',
    tools: ['think'],
    memoryShared: false,
  });
  const reading = teamFromCustom([one('a'), one('b')]);
  assert.ok(reading.ok);
  assert.equal(reading.team.name, 'Custom Team');
  assert.deepEqual(
    reading.team.agents.map(({ subAgents }) => subAgents),
    [['b'], []],
  );
  assert.equal(reading.team.agents[0]?.instruction, 'i: "quoted"\n- and more');
  assert.deepEqual(teamFromCustom([one('a'), one('a')]), { ok: false, error: 'Invalid team: two agents are called a' });
});
