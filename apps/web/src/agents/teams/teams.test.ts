import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { person, send, type Body, type Person } from '@troupe/testing/services/people';
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
