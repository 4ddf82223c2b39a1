import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createCipher, sha256Hex } from '@troupe/kernel';
import { testUser } from '@troupe/testing/database/server';
import { askerFor, testBackend, type TestBackend } from '../../testing.ts';

let backend: TestBackend;
let ann: ReturnType<typeof askerFor>;
let ben: ReturnType<typeof askerFor>;
before(async () => {
  backend = await testBackend();
  for (const id of ['ann', 'ben']) await testUser(backend.deps.db, id, { plan: 'solo', status: 'active' });
  ann = askerFor(backend, 'ann');
  ben = askerFor(backend, 'ben');
  await ann('POST', '/api/deployments', { agentId: 'ada', config: { name: 'Ada', plan: 'solo' } });
});
after(() => backend.stop());

const at = '/api/agents/ada/channels';
const listed = async (kind: string) =>
  (await ann('GET', at)).body.channels.find((one: { kind: string }) => one.kind === kind);
const mail = { address: 'ada@test.example', password: 'pass-word', smtpHost: 'localhost' };

describe('channels of an agent', () => {
  test('none is set at first; what is given is sealed, shown without secrets, changed and removed', async () => {
    const { channels, receipts } = (await ann('GET', at)).body;
    assert.deepEqual(
      channels.map(({ isSet }: { isSet: boolean }) => isSet),
      [false, false, false, false, false],
    );
    assert.deepEqual(receipts, []);

    const set = await ann('PUT', `${at}/email`, { settings: mail, allowed: ['@friends.example'] });
    assert.equal(set.status, 200, JSON.stringify(set.body));
    assert.ok(!JSON.stringify(set.body).includes('pass-word'));
    const { channel } = set.body;
    assert.deepEqual(channel.settings, { address: 'ada@test.example', smtpHost: 'localhost' });
    assert.deepEqual([channel.secrets, channel.allowed], [['password'], ['@friends.example']]);
    assert.match(channel.webhook, /\/api\/runtime\/proxy\/ada\/channels\/email\/[0-9a-f]{32}$/);
    const row = await backend.deps.db.system
      .selectFrom('agent_channels')
      .select('sealed')
      .where('channel', '=', 'email')
      .executeTakeFirstOrThrow();
    assert.ok(!Buffer.from(row.sealed!).includes('pass-word'));

    await ann('PUT', `${at}/email`, { settings: { smtpPort: '2525' } });
    const changed = await listed('email');
    assert.equal(changed.webhook, channel.webhook);
    assert.deepEqual(
      [changed.settings.smtpPort, changed.secrets, changed.allowed],
      ['2525', ['password'], ['@friends.example']],
    );
    assert.deepEqual((await ann('DELETE', `${at}/email`)).body, { success: true });
    assert.equal((await listed('email')).isSet, false);
  });

  test('where mail is handed over says nothing of the password, and is another for another mailbox', async () => {
    const hookOf = async (settings: object): Promise<string> => {
      const { body } = await ann('PUT', `${at}/email`, { settings });
      assert.ok(!('hook' in body.channel.settings) && !body.channel.secrets.includes('hook'));
      return body.channel.webhook as string;
    };
    const ofPassword = (password: string) => sha256Hex(`email webhook ada@test.example ${password}`).slice(0, 32);
    const first = await hookOf(mail);
    assert.ok(!first.endsWith(ofPassword('pass-word')));
    assert.equal(await hookOf({ password: 'another' }), first);
    assert.notEqual(await hookOf({ address: 'eve@test.example' }), first);
    assert.equal((await ann('PUT', `${at}/email`, { settings: { hook: 'mine' } })).status, 400);
    await ann('DELETE', `${at}/email`);
    assert.notEqual(await hookOf(mail), first);
    await ann('DELETE', `${at}/email`);

    // One from before goes on at its address, until its password changes.
    await hookOf(mail);
    const { db, secrets } = backend.deps;
    const sealed = createCipher(secrets.walletKey, 'channels').seal(JSON.stringify(mail), 'agent:ada:email');
    await db.system.updateTable('agent_channels').set({ sealed }).where('channel', '=', 'email').execute();
    assert.ok((await hookOf({ smtpPort: '2525' })).endsWith(ofPassword('pass-word')));
    const changed = await hookOf({ password: 'another' });
    assert.ok(!changed.endsWith(ofPassword('pass-word')) && !changed.endsWith(ofPassword('another')));
    await ann('DELETE', `${at}/email`);
  });

  test('what is wrong with it is told', async () => {
    const wrong: [kind: string, settings: object, error: string][] = [
      ['telegram', {}, 'Missing setting: token'],
      ['telegram', { token: 'x', other: 'y' }, 'Unknown setting: other'],
      ['whatsapp', { token: 'x' }, 'Missing setting: appSecret'],
      ['slack', { botToken: 'x' }, 'Slack needs an app token (Socket Mode) or a signing secret (Events API)'],
      ['email', { ...mail, address: 'nobody' }, 'That is no mail address'],
      ['email', { ...mail, smtpPort: '99999' }, 'A port is a number from 1 to 65535'],
      ['email', { ...mail, smtpSecurity: 'maybe' }, 'smtpSecurity must be one of tls, starttls, none'],
    ];
    for (const [kind, settings, error] of wrong) {
      const { status, body } = await ann('PUT', `${at}/${kind}`, { settings });
      assert.deepEqual([status, body.error], [400, error]);
    }
    assert.equal((await ann('PUT', `${at}/pigeon`, { settings: {} })).status, 400);
  });

  test('a test says what is wrong; the own network is closed to it', async () => {
    assert.equal((await ann('POST', `${at}/email/test`, {})).status, 404);
    await ann('PUT', `${at}/email`, {
      settings: { ...mail, smtpHost: '127.0.0.1', smtpPort: '25', smtpSecurity: 'none' },
    });
    const { body } = await ann('POST', `${at}/email/test`, { to: 'bo@friends.example' });
    assert.deepEqual(body, { ok: false, account: null, error: 'Target address not allowed' });
    await ann('DELETE', `${at}/email`);
  });

  test('a token switches its channel on, also one that was switched off', async () => {
    await ann('PUT', `${at}/whatsapp`, { settings: { token: 'T', appSecret: 'S' } });
    assert.notEqual((await listed('whatsapp')).state, 'off');
    const { config } = (await ann('GET', '/api/runtime/proxy/ada/config')).body;
    assert.equal((config ?? {}).channels?.channelB?.enabled, true);
    // Where Meta calls: without its signature nothing is taken.
    const { webhook } = await listed('whatsapp');
    const path = new URL(webhook).pathname;
    assert.equal((await ann('POST', path, { entry: [] })).status, 401);
    await ann('DELETE', `${at}/whatsapp`);
  });

  test('nobody else sees, sets, tries or removes them', async () => {
    const asked: [string, string, object?][] = [
      ['GET', at],
      ['PUT', `${at}/telegram`, { settings: { token: 'x' } }],
      ['POST', `${at}/telegram/test`, {}],
      ['DELETE', `${at}/telegram`],
    ];
    for (const [method, path, body] of asked)
      assert.equal((await ben(method as 'GET', path, body)).status, 404, method);
  });
});
