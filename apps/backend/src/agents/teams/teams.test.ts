import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TEAM_TEMPLATES } from '@troupe/domain';
import { readTeamYaml } from '@troupe/domain/team-yaml';
import { askBackend, person, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let boss: Person;
before(async () => {
  services = await startServices();
  boss = await person(services, { plan: 'network' });
});
after(() => services.stop());

const path = '/api/provision/team';
const custom = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  role: 'Helper',
  description: 'Helps',
  instruction: 'Help.',
  model: 'xiaomi/mimo-v2-pro',
  tools: ['memory', 'think'],
  memoryShared: true,
  ...more,
});

describe('4.4 teams', () => {
  test('all twelve templates are listed, on both services, and each of them runs', async () => {
    const list = await askBackend(services, 'GET', '/api/provision/team/templates');
    assert.deepEqual((await boss.ask('GET', '/api/provision/team/templates')).body, list.body);
    assert.equal(list.body.templates.length, 12);
    assert.deepEqual(
      list.body.categories.map((one: Body) => [one.label, one.templates.length]),
      [
        ['Developer', 3],
        ['Creator', 3],
        ['Business', 4],
        ['Personal', 2],
      ],
    );
    for (const { key, name, agents } of TEAM_TEMPLATES) {
      const made = await boss.ask('POST', path, { plan: 'network', templateKey: key });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      assert.match(made.body.teamId, /^team_\d+_[0-9a-z]{6}$/);
      assert.equal(made.body.template, name);
      assert.deepEqual(
        made.body.agents.map((one: Body) => [one.container, one.status]),
        agents.map((one) => [`${made.body.teamId}/${one.name}`, 'running']),
      );
    }
    assert.equal((await boss.ask('GET', '/api/teams')).body.count, 12);
  });

  test('the document is what the team runs from, and can be posted back', async () => {
    const made = await boss.ask('POST', path, { plan: 'collective', templateKey: 'research_team' });
    const reading = readTeamYaml(made.body.yaml_config);
    assert.ok(reading.ok);
    const [lead, helper] = made.body.agents.map((one: Body) => one.agentId);
    const definition = await askBackend(services, 'GET', `/api/runtime/proxy/${lead}/definition`);
    assert.equal(definition.body.definition.instruction, reading.team.agents[0]!.instruction);
    assert.deepEqual(
      definition.body.definition.team.members.map((one: Body) => one.name),
      ['analyst', 'writer'],
    );
    const changed = made.body.yaml_config.replace('name: Research Team', 'name: Night Shift');
    const again = await boss.ask('POST', path, { plan: 'collective', yaml_config: changed });
    assert.equal(again.body.template, 'Night Shift');
    assert.equal(again.body.agents.length, 3);

    const said = await boss.ask('POST', '/api/chat', { agentId: lead, message: 'tell analyst hello' });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    const heard = await boss.ask('GET', `/api/agents/${helper}/messages`);
    assert.ok(
      heard.body.messages.some((one: Body) => one.sender === 'user' && one.content.includes('hello')),
      'the lead handed the task over',
    );
    await boss.ask('POST', '/api/chat', { agentId: lead, message: 'remember the code is 42' });
    assert.ok(
      JSON.stringify((await boss.ask('GET', `/api/memory?agentId=${helper}`)).body.memory).includes('42'),
      'one memory',
    );
  });

  test('agents of your own replace the template', async () => {
    const made = await boss.ask('POST', path, {
      plan: 'label',
      templateKey: 'nonsense',
      customAgents: [custom('one'), custom('two')],
    });
    assert.equal(made.body.template, 'Custom Team', JSON.stringify(made.body));
    assert.equal(made.body.agents.length, 2);
  });

  test('names what is wrong, with the templates that there are', async () => {
    const keys = TEAM_TEMPLATES.map(({ key }) => key);
    for (const [body, error] of [
      [{}, /^Team provisioning requires collect, label, or network plan$/],
      [{ plan: 'solo' }, /^Team provisioning requires collect, label, or network plan$/],
      [{ plan: 7 }, /^Team provisioning requires collect, label, or network plan$/],
      [{ plan: 'label', templateKey: 'nonsense' }, /nonsense/],
      [{ plan: 'collective', customAgents: ['a', 'b', 'c', 'd'].map((name) => custom(name)) }, /at most 3/],
      [{ plan: 'label', customAgents: [custom('a', { tools: 'all' })] }, /tools/],
      [{ plan: 'label', customAgents: [custom('a'), custom('a')] }, /two agents/],
      [{ plan: 'label', customAgents: [custom('a', { tools: ['rocket'] })] }, /tool/],
      [{ plan: 'label', yaml_config: 'agents: [' }, /YAML/],
    ] as const) {
      const reply = await boss.ask('POST', path, body);
      assert.equal(reply.status, 400, JSON.stringify(reply.body));
      assert.match(reply.body.error, error);
      assert.deepEqual(reply.body.available_templates, keys);
    }
    assert.equal((await send(services.web + path, 'POST', {})).status, 401);
    const idle = await person(services, { plan: 'label', subscriptionStatus: 'past_due' });
    assert.deepEqual(await idle.ask('POST', path, { plan: 'label' }), {
      status: 403,
      body: { error: 'Active subscription required' },
    });
    const small = await person(services, { plan: 'collective' });
    assert.equal((await small.ask('POST', path, { plan: 'label' })).body.code, 'PLAN_MISMATCH');
  });
});
