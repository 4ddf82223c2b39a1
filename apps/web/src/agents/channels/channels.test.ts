import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  id = await provisioned(ann);
});
after(() => services.stop());

test('an owner sets, sees, tries and removes a channel; another person finds nothing', async () => {
  const at = `/api/agents/${id}/channels`;
  const settings = { botToken: 'xoxb-secret', signingSecret: 'signing-secret' };
  const set = await ann.ask('PUT', `${at}/slack`, { settings, allowed: ['U1'] });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const list = await ann.ask('GET', at);
  assert.ok(!JSON.stringify(list.body).includes('secret"') && !JSON.stringify(list.body).includes('xoxb'));
  const slack = list.body.channels.find((one: { kind: string }) => one.kind === 'slack');
  assert.deepEqual([slack.secrets, slack.allowed, slack.isSet], [['botToken', 'signingSecret'], ['U1'], true]);
  assert.equal(
    (await ann.ask('PUT', `${at}/slack`, { settings: { nonsense: 'x' } })).body.error,
    'Unknown setting: nonsense',
  );
  assert.equal((await ann.ask('POST', `${at}/email/test`, {})).status, 404);

  const ben = await person(services, { plan: 'label' });
  assert.equal((await ben.ask('GET', at)).status, 404);
  assert.equal((await ben.ask('PUT', `${at}/slack`, { settings })).status, 404);
  assert.equal((await ben.ask('DELETE', `${at}/slack`)).status, 404);
  assert.deepEqual((await ann.ask('DELETE', `${at}/slack`)).body, { success: true });
});
