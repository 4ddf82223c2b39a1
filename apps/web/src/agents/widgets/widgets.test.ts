import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WIDGET_DEFAULTS } from '@troupe/contract';
import { person, provisioned, send, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let agentId: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  agentId = await provisioned(ann);
});
after(() => services.stop());

const path = (rest = ''): string => `/api/agents/${agentId}/widgets${rest}`;

test('are made, listed, changed, given another key and removed, also with an API key', async () => {
  const key = { authorization: `Bearer ${ann.key}` };
  const made = await send(services.web + path(), 'POST', { origins: ['https://Shop.example/'] }, key);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, publicKey, address, embed, spentTodayUsd, createdAt, ...settings } = made.body.widget;
  assert.deepEqual(settings, { ...WIDGET_DEFAULTS, agentId, origins: ['https://shop.example'] });
  assert.equal(spentTodayUsd, 0);
  assert.ok(Date.parse(createdAt) <= Date.now());
  assert.match(publicKey, /^pk_[0-9a-f]{32}$/);
  assert.equal(address, `http://127.0.0.1:3000/w/${publicKey}`);
  assert.equal(embed, `<script src="http://127.0.0.1:3000/widget.js" data-key="${publicKey}" async></script>`);
  assert.deepEqual((await ann.ask('GET', path())).body.widgets, [made.body.widget]);

  const changed = await ann.ask('PATCH', path(`/${id}`), { title: 'Help', dailyCapUsd: 2.5, colour: '#AABBCC' });
  assert.deepEqual(changed.body.widget, { ...made.body.widget, title: 'Help', dailyCapUsd: 2.5, colour: '#aabbcc' });
  assert.deepEqual((await ann.ask('PATCH', path(`/${id}`), {})).body, changed.body);
  const rotated = (await ann.ask('POST', path(`/${id}/rotate`))).body.widget;
  assert.notEqual(rotated.publicKey, publicKey);
  assert.deepEqual((await ann.ask('DELETE', path(`/${id}`))).body, { success: true });
  assert.deepEqual((await ann.ask('GET', path())).body.widgets, []);
  assert.equal((await ann.ask('DELETE', path(`/${id}`))).body.error, 'Widget not found');
});

test('say what is wrong with a setting, and change nothing', async () => {
  const wrong: [object, string][] = [
    [{ title: ' ' }, 'title required'],
    [{ title: 'x'.repeat(61) }, 'title too long (max 60)'],
    [{ greeting: '' }, 'greeting required'],
    [{ colour: 'red;background:url(x)' }, 'colour must be six hexadecimal digits, such as #1f6f5c'],
    [{ scheme: 'blue' }, 'scheme must be light, dark or auto'],
    [{ origins: ['*'] }, 'origins must be addresses of sites without a path, such as https://shop.example'],
    [
      { origins: ['https://a.example/x'] },
      'origins must be addresses of sites without a path, such as https://shop.example',
    ],
    [{ origins: ['javascript:1'] }, 'origins must be addresses of sites without a path, such as https://shop.example'],
    [{ abilities: 'most' }, 'abilities must be answers or all'],
    [{ messagesPerHour: 0 }, 'messagesPerHour must be a whole number from 1 to 1000'],
    [{ dailyCapUsd: -1 }, 'dailyCapUsd must be a number from 0.01 to 10000'],
    [{ retentionDays: 1.5 }, 'retentionDays must be a whole number from 1 to 365'],
  ];
  for (const [body, error] of wrong)
    assert.deepEqual(await ann.ask('POST', path(), body), { status: 400, body: { error } }, JSON.stringify(body));
  assert.deepEqual((await ann.ask('GET', path())).body.widgets, []);
});

test('are ten of an agent at most', async () => {
  const made = await Promise.all(Array.from({ length: 12 }, () => ann.ask('POST', path(), {})));
  const refused = made.filter(({ status }) => status === 409);
  assert.deepEqual(
    [made.filter(({ status }) => status === 201).length, refused.map(({ body }) => body.error)],
    [10, ['An agent has 10 widgets at most', 'An agent has 10 widgets at most']],
  );
});

test('are nobody else’s', async () => {
  const [{ id }] = (await ann.ask('GET', path())).body.widgets;
  const ben = await person(services, { plan: 'label' });
  const own = await provisioned(ben);
  for (const [method, rest] of [
    ['PATCH', ''],
    ['POST', '/rotate'],
    ['DELETE', ''],
  ] as const) {
    assert.equal((await ben.ask(method, path(`/${id}${rest}`), {})).body.error, 'Agent not found');
    const through = await ben.ask(method, `/api/agents/${own}/widgets/${id}${rest}`, {});
    assert.equal(through.body.error, 'Widget not found');
  }
  assert.equal((await send(services.web + path(), 'GET')).status, 401);
});
