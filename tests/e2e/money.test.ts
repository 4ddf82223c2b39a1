import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { cardEnv, cardSignature, startCardProcessor } from '@troupe/testing/money/card-processor';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

const processor = await startCardProcessor();
/** A payment gateway that breaks while it pays, and says nothing of the payment. */
const gateway = createServer((_request, response) => void response.writeHead(500).end());
await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));

/** The processor's own page, which is nowhere here. */
const atProcessor = ({ context }: WatchedPage) =>
  context.route('https://cards.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Pay</title><h1>Pay</h1>' }),
  );

async function deliver(url: string, type: string, object: object): Promise<void> {
  const created = Math.floor(Date.now() / 1000);
  const payload = JSON.stringify({ id: `evt_${type}`, object: 'event', type, created, data: { object } });
  const headers = { 'content-type': 'application/json', 'billing-signature': cardSignature(payload) };
  const answer = await fetch(url, { method: 'POST', headers, body: payload });
  assert.equal(answer.status, 200, await answer.text());
}

browserSuite(
  'money in the browser',
  (stage) => {
    test('a top-up by card is credited to the wallet', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      await atProcessor(watched);
      await enter(page, stage.platform.owner);
      await settle(page, '/dashboard/wallet');
      await page.getByRole('button', { name: 'Create a wallet' }).click();
      await page.getByRole('button', { name: '$25' }).click();
      await page.getByRole('button', { name: 'Go to payment' }).click();
      await page.waitForURL('https://cards.example/pay/**');
      const checkout = processor.requests.findLast(({ path }) => path === '/v1/checkout/sessions')!;
      await deliver(`${stage.platform.url}/api/wallet/top-up`, 'checkout.session.completed', {
        id: `cs_${page.url().split('/').at(-1)}`,
        object: 'checkout.session',
        payment_status: 'paid',
        amount_total: 2500,
        currency: 'usd',
        metadata: {
          type: checkout.form['metadata[type]'],
          walletAddress: checkout.form['metadata[walletAddress]'],
          amountCents: checkout.form['metadata[amountCents]'],
        },
      });
      await page.goto(new URL(checkout.form['success_url']!).pathname + new URL(checkout.form['success_url']!).search);
      await page.getByText('Thank you').waitFor();
      await page.getByText('$25.00').first().waitFor();
      assertQuiet(watched, [/api\/wallet/]);
      await watched.context.close();
    });

    test('a plan is bought at the processor and active when it says so', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      await atProcessor(watched);
      await page.goto('/signup?next=/dashboard/billing');
      await page.getByLabel('E-mail').fill('buyer@example.org');
      await page.getByLabel('Password').fill('correct horse battery');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('button', { name: 'Choose collective' }).click();
      await page.waitForURL('https://cards.example/pay/**');
      const { form } = processor.requests.findLast(({ path }) => path === '/v1/checkout/sessions')!;
      await deliver(`${stage.platform.url}/api/billing/webhook`, 'customer.subscription.created', {
        id: 'sub_1',
        object: 'subscription',
        status: 'active',
        customer: form['customer'],
        metadata: { userId: form['client_reference_id'] },
        items: {
          data: [
            {
              price: { currency: 'gbp', unit_amount: 6900, recurring: { interval: 'month' }, lookup_key: null },
              current_period_end: Math.floor(Date.now() / 1000) + 2_592_000,
            },
          ],
        },
      });
      await page.goto('/dashboard/billing?checkout=success');
      await page.getByText('active', { exact: true }).waitFor();
      assertQuiet(watched);
      await watched.context.close();
    });

    test('the owner says what became of a payment of which the gateway does not tell', async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Buyer',
        model: 'sandbox/echo',
      });
      const recipient = `0x${'ee'.repeat(20)}`;
      for (const amount of [3, 4])
        await assert.rejects(
          call('POST', '/api/paygate', { action: 'pay', agentId: agent.id, amount, recipient }),
          /502/,
        );
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      await enter(page, stage.platform.owner);
      await settle(page, '/dashboard/policy');
      await page.getByLabel('Agent').selectOption({ label: 'Buyer' });
      for (const [amount, said, status] of [
        ['$3.00', 'It was paid', 'paid'],
        ['$4.00', 'It was not paid', 'failed'],
      ] as const) {
        const row = page.getByRole('row', { name: amount });
        await row.getByText('no answer', { exact: true }).waitFor();
        await row.getByRole('button', { name: said }).click();
        await page.getByRole('alertdialog').getByText('Look at your account there').waitFor();
        await page.getByRole('alertdialog').getByRole('button', { name: said }).click();
        await row.getByText(status, { exact: true }).waitFor();
      }
      assertQuiet(watched);
      await watched.context.close();
    });

    test('payments of all agents wait in the inbox, with what the day comes to', async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const recipient = `0x${'ab'.repeat(20)}`;
      // A team is made at once; of agents by themselves five are made in a minute.
      const customAgents = [1, 2, 3, 4, 5, 6].map((n) => ({
        name: `payer-${n}`,
        role: 'Buyer',
        description: 'Buys',
        instruction: 'Buy.',
        model: 'sandbox/echo',
        tools: ['think'],
        memoryShared: false,
      }));
      const team = await call<{ agents: { agentId: string }[] }>('POST', '/api/provision/team', {
        plan: 'network',
        customAgents,
      });
      assert.equal(team.agents.length, 6);
      for (const [index, { agentId }] of team.agents.entries()) {
        const n = index + 1;
        await call('PATCH', `/api/agents/${agentId}`, { name: `Payer ${n}` });
        const limit = (perDay: string) =>
          call('PUT', `/api/agents/${agentId}/payment-policy`, { approvalAbove: '0', perDay });
        await limit('10');
        await call('POST', '/api/paygate', { action: 'pay', agentId, amount: 2, recipient });
        // More than is left is not even asked for: it is too much when the limit has come down since.
        if (n === 6) await limit('1');
      }
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      await enter(page, stage.platform.owner);
      await settle(page, '/dashboard/inbox');
      const payment = (n: number) => page.getByRole('group', { name: `Payer ${n} asks to pay $2.00` });
      for (const n of [1, 2, 3, 4, 5, 6]) await payment(n).waitFor();
      await payment(1).getByText('With it, $2.00 of $10.00 in 24 hours; $8.00 would be left.').waitFor();
      await payment(6).getByText('more than its limit of $1.00, so it cannot be paid now.').waitFor();
      await assertAccessible(page, 'payments that wait');
      await payment(2).getByRole('button', { name: 'Refuse' }).click();
      await payment(2).waitFor({ state: 'detached' });
      // One that comes while the page is open appears by itself.
      const { agents } = await call<{ agents: { id: string; name: string }[] }>('GET', '/api/agents');
      const agentId = agents.find(({ name }) => name === 'Payer 2')!.id;
      await call('POST', '/api/paygate', { action: 'pay', agentId, amount: 2, recipient });
      await payment(2).waitFor();
      assertQuiet(watched);
      await watched.context.close();
    });

    test.after(() => {
      processor.close();
      gateway.close();
    });
  },
  {
    ...cardEnv(processor.address),
    PAYGATE_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
  },
);
