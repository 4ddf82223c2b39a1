import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere } from '@troupe/testing/services/people';
import { sendRaw } from '@troupe/testing/http/raw';

let scene: Scene;
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

const from = (address: string) => ({ authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': address });

/** Thirty lists of models of one user made it 500 for everybody: web's own calls counted as one client of the backend. */
test('who asks too often is told so, and nobody else notices', async () => {
  const stranger = (address: string) => ({ 'x-forwarded-for': address, authorization: 'Bearer sk_nobody' });
  const cases: [path: string, greedy: Record<string, string>][] = [
    ['/api/models', { ...from('10.99.0.1'), cookie: scene.attacker.cookie }],
    // A key that is nobody's: the call counted for web, and so did every other one without an account.
    ['/api/installations', stranger('10.99.0.2')],
  ];
  for (const [path, greedy] of cases) {
    let last = await sendRaw(scene.web, { path, headers: greedy });
    for (let asked = 0; asked < 130 && last.status === 200; asked += 1)
      last = await sendRaw(scene.web, { path, headers: greedy });
    assert.equal(last.status, 429, `${path}: ${last.status} ${last.text}`);
    assert.ok(Number(last.headers['retry-after']) > 0, 'it says when to come back');
    assert.equal(last.headers['ratelimit-remaining'], '0');
    const { cookie } = scene.bystander;
    assert.equal((await sendRaw(scene.web, { path, headers: { ...from(elsewhere()), cookie } })).status, 200, path);
  }
  const other = await sendRaw(scene.web, { path: '/api/installations', headers: stranger('10.99.0.3') });
  assert.equal(other.status, 200);
});

/** Whoever has one IPv6 address has 2^64 of them, and each had limits of its own. */
test('the addresses of one IPv6 network count as one', async () => {
  const ask = async (address: string) =>
    (await sendRaw(scene.backend, { path: '/api/ai/models', headers: from(address) })).status;
  for (let host = 1; host <= 30; host += 1) assert.equal(await ask(`2001:db8:1:2::${host.toString(16)}`), 200);
  assert.equal(await ask('2001:db8:1:2:ffff:1:2:3'), 429);
  assert.equal(await ask('2001:db8:1:3::1'), 200);
});

/** Such an address registered, and from then on everything that web passes on to the backend was 502. */
test('an e-mail address in any script works between the services', async () => {
  const { id } = scene.bystander;
  for (const email of ['用户@例子.com', 'josé@exämple.fr', '😀@example.com']) {
    await scene.database.db.system.updateTable('users').set({ email }).where('id', '=', id).execute();
    const reply = await scene.bystander.chat({ say: 'hello' });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    const wallet = await scene.bystander.ask('GET', '/api/underground/wallets');
    assert.ok(wallet.status < 500, JSON.stringify(wallet.body));
  }
});
