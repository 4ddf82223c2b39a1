import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalFor, newDefinition } from '../agent-definition.ts';
import { agentYaml } from './agent-yaml.ts';
import { readTeamYaml } from './team-yaml.ts';

const read = (yaml: string) => {
  const reading = readTeamYaml(yaml);
  assert.ok(reading.ok, reading.ok ? '' : reading.error);
  return reading;
};

const ADA = newDefinition({
  name: 'Ada’s helper',
  role: 'clerk',
  description: 'Helps',
  instruction: 'Be kind.\n# no comment',
  tools: ['filesystem', 'shell'],
  approvals: { filesystem: 'allow', write_file: 'ask', shell: 'deny', github: 'ask' },
  mcpServers: [
    {
      name: 'github',
      url: 'https://api.example/mcp',
      headers: { authorization: 'Bearer s3cret' },
      tools: ['get_issue'],
    },
    { name: 'local', command: 'npx', args: ['-y', 'thing'], env: { 'api-key': 's3cret' } },
  ],
  skills: [{ id: '1', name: 'invoices', description: 'x', digest: 'a'.repeat(64) }],
  traits: {
    welcome: 'Hello',
    apis: [{ name: 'weather', endpoint: 'https://w.example/', method: 'GET', headers: { 'x-key': 's3cret' } }],
  },
  limits: { maxTurns: 7 },
});

test('an agent is a document that is read again, without any secret', () => {
  const yaml = agentYaml(ADA);
  assert.ok(!yaml.includes('s3cret'));
  const { team, notCarried, toGive } = read(yaml);
  const [agent] = team.agents;
  assert.deepEqual(notCarried, []);
  assert.deepEqual(
    [
      agent?.name,
      agent?.role,
      agent?.instruction,
      agent?.tools,
      agent?.skills,
      agent?.maxTurns,
      agent?.traits?.welcome,
    ],
    ['Ada-s-helper', 'clerk', ADA.instruction, ['filesystem', 'shell'], ['invoices'], 7, 'Hello'],
  );
  assert.deepEqual(
    agent?.mcp.map(({ name, tools }) => [name, tools]),
    [
      ['github', ['get_issue']],
      ['local', undefined],
    ],
  );
  const given = JSON.stringify(toGive);
  for (const name of ['AUTHORIZATION', 'API_KEY', 'X_KEY']) assert.ok(given.includes(name), `${name}: ${given}`);
});

test('it allows nothing that the agent may not', () => {
  const { permissions } = read(agentYaml(ADA)).team;
  const again = newDefinition({ name: 'a', tools: ADA.tools, ...(permissions && { permissions }) });
  const STRICT = ['allow', 'ask', 'deny'];
  const tools = [
    ...['read_file', 'write_file', 'delete_file'].map((name) => ({ name, toolset: 'filesystem' })),
    { name: 'shell', toolset: 'shell' },
    { name: 'github_get_issue', toolset: 'github', offeredAs: 'get_issue' },
  ];
  for (const tool of tools) {
    const [was, is] = [ADA, again].map((one) => STRICT.indexOf(approvalFor(one, tool, {})));
    assert.ok(is! >= was!, `${tool.name}: ${STRICT[was!]} became ${STRICT[is!]}`);
  }
  assert.equal(approvalFor(again, tools[0]!, {}), 'allow');
  const all = newDefinition({ name: 'b', tools: ['shell'], approvals: { '*': 'ask' } });
  assert.ok(read(agentYaml(all)).team.permissions?.ask?.includes('*'));
});
