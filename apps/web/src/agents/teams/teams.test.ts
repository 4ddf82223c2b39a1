import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askBackend, person, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'collective' });
});
after(() => services.stop());

const PATH = '/api/provision/team';
const member = {
  name: 'scout',
  role: 'Scout',
  description: '',
  instruction: 'Look around.',
  model: 'auto',
  tools: ['memory'],
  memoryShared: true,
};

test('a team is made and listed with its members, to its owner alone', async () => {
  const made = await ann.ask('POST', PATH, { plan: 'collective', templateKey: 'dev_team' });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { teamId, agents, yaml_config: yaml } = made.body;
  assert.match(teamId, /^team_\d+_[0-9a-z]{6}$/);
  const names = ['engineer', 'pm', 'qa'];
  assert.deepEqual(
    agents.map((one: Body) => [one.container, one.agentId, one.status]).toSorted(),
    names.map((name) => [`${teamId}/${name}`, `${teamId}-${name}`, 'running']),
  );
  const { teams, count, hasMore } = (await ann.ask('GET', '/api/teams')).body;
  assert.deepEqual([count, hasMore, teams[0].teamId, teams[0].yaml_config], [1, false, teamId, yaml]);
  assert.deepEqual(
    teams[0].agents.toSorted((one: Body, other: Body) => one.name.localeCompare(other.name)),
    names.map((name) => ({ agentId: `${teamId}-${name}`, name, status: 'running' })),
  );
  const ben = await person(services, { plan: 'collective' });
  assert.equal((await ben.ask('GET', '/api/teams')).body.count, 0);
});

const IMPORTED = `
metadata: { author: somebody }
permissions: { deny: ['shell:cmd=rm *'] }
agents:
  root:
    model: openai/gpt-4o
    welcome_message: Hello
    code_mode_tools: true
    toolsets:
      - { type: filesystem, tools: [read_file] }
      - { type: shell }
      - { type: mcp, name: docs, command: docs-server, env: { TOKEN: '\${DOCS_TOKEN}' } }
`;

test('a document is shown before it is run, with what is not carried over; it runs as it was shown', async () => {
  const ben = await person(services, { plan: 'collective' });
  const shown = await ben.ask('POST', `${PATH}/preview`, { yaml_config: IMPORTED });
  assert.equal(shown.status, 200, JSON.stringify(shown.body));
  const { agents, notCarried, toGive, yaml_config: yaml } = shown.body;
  assert.deepEqual(agents, [
    {
      name: 'root',
      role: 'root',
      model: 'openai/gpt-4o',
      tools: ['filesystem', 'shell'],
      servers: ['docs'],
      subAgents: [],
    },
  ]);
  assert.deepEqual(
    [notCarried, toGive].map((notes) => notes.map((one: Body) => one.at)),
    [['agents.root.code_mode_tools'], ['agents.root.toolsets.2.env.TOKEN']],
  );
  assert.equal((await ben.ask('GET', '/api/teams')).body.count, 0);

  const made = await ben.ask('POST', PATH, { plan: 'collective', yaml_config: IMPORTED });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.deepEqual([made.body.notCarried, made.body.toGive, made.body.yaml_config], [notCarried, toGive, yaml]);
  const id = made.body.agents[0].agentId;
  const { definition } = (await askBackend(services, 'GET', `/api/runtime/proxy/${id}/definition`)).body;
  assert.deepEqual(definition.permissions, { allow: [], ask: [], deny: ['shell:cmd=rm *'] });
  assert.deepEqual(definition.traits, { welcome: 'Hello', offered: { filesystem: ['read_file'] } });

  for (const [document, error] of [
    ['agents: { root: { hooks: { pre_tool_use: [] } } }', /^Invalid team: agents\.root\.hooks: hooks may stop a call/],
    ['agents: { root: { rocket: 1 } }', /^Invalid team: agents\.root\.rocket: unknown key/],
    ['a: [', /^Not valid YAML/],
  ] as const) {
    const refused = await ben.ask('POST', `${PATH}/preview`, { yaml_config: document });
    assert.equal(refused.status, 400);
    assert.match(refused.body.error, error);
  }
  assert.equal((await send(`${services.web}${PATH}/preview`, 'POST', { yaml_config: IMPORTED })).status, 401);
});

test('says what is wrong, with the templates that there are, and makes nothing', async () => {
  const ben = await person(services, { plan: 'collective' });
  const solo = await person(services, { plan: 'solo' });
  for (const [who, body, status, error] of [
    [solo, { plan: 'solo' }, 400, 'Team provisioning requires collect, label, or network plan'],
    [solo, { plan: 'collective' }, 403, 'Plan collective is not part of your subscription'],
    [ben, {}, 400, 'Team provisioning requires collect, label, or network plan'],
    [ben, { plan: 'collective', templateKey: 'nobody' }, 400, 'Unknown template nobody'],
  ] as const) {
    const answer = await who.ask('POST', PATH, body);
    assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(body));
    if (status === 400) assert.ok(answer.body.available_templates.includes('dev_team'));
    assert.equal((await who.ask('GET', '/api/teams')).body.count, 0);
  }
  const bad = await ben.ask('POST', PATH, { plan: 'collective', customAgents: [{ ...member, tools: 'all' }] });
  assert.equal(bad.status, 400);
  assert.match(bad.body.error, /^customAgents\.0: /);
  assert.equal((await send(`${services.web}${PATH}`, 'POST', { plan: 'collective' })).status, 401);
});
