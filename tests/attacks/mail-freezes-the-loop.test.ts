import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** A mail was read on the loop that serves everybody: one of eight million quoted letters stopped all of it for seconds. */

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const LETTERS = 8_000_000;
const BODY = `From: Eve <eve@strangers.example>\r
Subject: hello\r
Message-ID: <1@strangers.example>\r
Content-Type: application/pdf\r
Content-Transfer-Encoding: quoted-printable\r
\r
${'=41'.repeat(LETTERS)}`;

test('a mail that takes long to read holds up nobody', { timeout: 120_000 }, async () => {
  const { attacker } = scene;
  const channel = `/api/agents/${attacker.agentId}/channels/email`;
  const settings = { address: 'ada@test.example', password: 'secret', smtpHost: 'mail.test.example' };
  const set = await attacker.ask('PUT', channel, { settings, allowed: ['ann@friends.example'] });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  const { webhook } = set.body.channel;
  await scene.unharmed(async () => {
    const headers = { 'content-type': 'message/rfc822' };
    const answer = await fetch(webhook, { method: 'POST', headers, body: BODY });
    assert.equal(answer.status, 200);
  });
  const { body } = await attacker.ask('GET', `/api/agents/${attacker.agentId}/channels`);
  assert.equal(body.receipts[0].note, 'Not among those who may write');
});
