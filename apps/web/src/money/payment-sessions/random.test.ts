import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { signVoucher } from '@troupe/chain';
import { formatAmount, parseAmount } from '@troupe/domain';
import { randomHex } from '@troupe/kernel';
import { CARD_PROCESSOR, createLedger, REVENUE, verifyLedger, walletAccount } from '@troupe/ledger';
import { testWeb, type TestWeb } from '../../testing.ts';

const PATH = '/api/wallet/sessions';
const CREDIT = 200_000_000n;
const PRICE = 50_000n;

let web: TestWeb;
/** Answers and fails in turns. */
let calls = 0;
const plugin = createServer((request, response) => {
  request.resume();
  calls += 1;
  response.writeHead(calls % 3 === 0 ? 500 : 200, { 'content-type': 'application/json' }).end('{}');
});
const ledger = createLedger({ clock: () => new Date() });

before(async () => {
  await new Promise<void>((resolve) => plugin.listen(0, '127.0.0.1', resolve));
  web = await testWeb({ env: { PLUGIN_AGENT_URL: `http://127.0.0.1:${(plugin.address() as AddressInfo).port}/` } });
});
after(async () => {
  await web.stop();
  plugin.close().closeAllConnections();
});

const balance = async (account: string) => (await ledger.balance(web.deps.db.system, account)).balance;

test('random work on sessions by many at once: no cent is made or lost, and parts sum to wholes', async () => {
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom('open', 'voucher', 'voucher', 'call', 'replay', 'close'),
      amount: fc.integer({ min: 1, max: 3_000_000 }),
    }),
    { minLength: 8, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 8 }), async (list, width) => {
      const owner = privateKeyToAccount(generatePrivateKey());
      const account = walletAccount(owner.address);
      await web.deps.db.asSystem(async (tx) => {
        await ledger.open(tx, [CARD_PROCESSOR, account]);
        await ledger.post(tx, {
          key: randomHex(8),
          kind: 'top-up',
          entries: [
            { account: CARD_PROCESSOR.id, amount: -CREDIT },
            { account: account.id, amount: CREDIT },
          ],
        });
      });
      const earnedBefore = await balance(REVENUE.id);
      const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object, headers = {}) => {
        const answer = await web.server.app.inject({ method, url, payload, headers });
        assert.notEqual(answer.statusCode, 500, answer.body);
        return { status: answer.statusCode, body: answer.json() };
      };
      let id = (await ask('POST', PATH, { address: owner.address, deposit: '6' })).body.session.id as string;
      let accepted = 0n;
      let last: object | undefined;
      const sign = async (units: bigint) => {
        const one = { sessionId: id, plugin: 'agent', nonce: `0x${randomHex(32)}` as const };
        return { ...one, signature: await signVoucher(owner, { ...one, amount: units }, 4217) };
      };
      async function step({ kind, amount }: (typeof list)[number]): Promise<void> {
        if (kind === 'open') {
          const { body } = await ask('POST', PATH, { address: owner.address, deposit: '6' });
          id = body.session?.id ?? id;
        } else if (kind === 'close') await ask('DELETE', `${PATH}?sessionId=${id}`);
        else if (kind === 'call') {
          const { sessionId, nonce, signature } = await sign(PRICE);
          const header = Buffer.from(JSON.stringify({ amount: '0.05', nonce, signature })).toString('base64url');
          const headers = { 'x-session-id': sessionId, 'x-payment-voucher': header };
          if ((await ask('POST', '/api/v1/gateway', {}, headers)).status === 200) accepted += PRICE;
        } else {
          const units = BigInt(amount);
          const fresh = { ...(await sign(units)), userAddress: owner.address, amount: formatAmount(units, 6) };
          const sent = kind === 'replay' && last !== undefined ? last : fresh;
          const { status } = await ask('POST', `${PATH}/voucher`, sent);
          if (sent !== fresh) assert.equal(status, 400);
          else if (status === 200) {
            last = fresh;
            accepted += units;
          }
        }
      }
      const queue = [...list];
      const worker = async () => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await step(next);
      };
      await Promise.all(Array.from({ length: width }, worker));

      const { sessions } = (await ask('GET', `${PATH}?address=${owner.address}`)).body;
      for (const one of sessions) await ask('DELETE', `${PATH}?sessionId=${one.id}`);
      const closed = (await ask('GET', `${PATH}?address=${owner.address}`)).body.sessions as Record<string, string>[];
      const units = (text: string | undefined) => parseAmount(text ?? '', 6) ?? 0n;
      const spent = closed.reduce((sum, one) => sum + units(one['spent']), 0n);
      assert.ok(closed.every((one) => one['status'] === 'closed' && one['sandbox'] === undefined));
      assert.ok(closed.every((one) => units(one['spent']) + units(one['remaining']) === units(one['deposit'])));
      assert.equal(spent, accepted);
      assert.equal(await balance(account.id), CREDIT - accepted);
      assert.equal((await balance(REVENUE.id)) - earnedBefore, accepted);
      const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
      assert.deepEqual(broken, []);
    }),
    { numRuns: 12 },
  );
});
