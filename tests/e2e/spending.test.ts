import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cardEnv, cardSignature, startCardProcessor } from '@troupe/testing/money/card-processor';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

const cards = await startCardProcessor();

/** What the card processor says once somebody has paid. */
async function topUp(url: string, address: string, cents: number): Promise<void> {
  const opened = await fetch(`${url}/api/wallet/top-up?amount=${cents}&address=${address}`);
  const { sessionId } = (await opened.json()) as { sessionId: string };
  const metadata = { type: 'wallet_top_up', walletAddress: address, amountCents: String(cents) };
  const object = {
    id: sessionId,
    object: 'checkout.session',
    payment_status: 'paid',
    amount_total: cents,
    currency: 'usd',
    metadata,
  };
  const created = Math.floor(Date.now() / 1000);
  const payload = JSON.stringify({
    id: `evt_${sessionId}`,
    object: 'event',
    type: 'checkout.session.completed',
    created,
    data: { object },
  });
  const headers = { 'content-type': 'application/json', 'billing-signature': cardSignature(payload) };
  const answer = await fetch(`${url}/api/wallet/top-up`, { method: 'POST', headers, body: payload });
  assert.equal(answer.status, 200, await answer.text());
}

browserSuite(
  'what agents spend, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let call: Caller['call'];
    const agents: string[] = [];
    const wallets: string[] = [];
    before(async () => {
      ({ call } = await signedInCaller(stage.platform, stage.platform.owner));
      for (const name of ['Buyer', 'Venue']) {
        const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
          name,
          model: 'sandbox/echo',
        });
        const wallet = await call<{ address: string }>('POST', '/api/underground/wallets', { agentId: agent.id });
        agents.push(agent.id);
        wallets.push(wallet.address);
      }
      await topUp(stage.platform.url, wallets[0]!, 5000);
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      cards.close();
    });

    test('a cap is set, shown with what is used, and removed', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/cost');
      await page.getByLabel('In', { exact: true }).selectOption('day');
      await page.getByLabel('At most, in USD').fill('7.50');
      await page.getByRole('button', { name: 'Set cap' }).click();
      await page.getByText('$0.00 of $7.50').waitFor();
      await page.getByRole('button', { name: /^Remove: All of your agents together/ }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('$0.00 of $7.50').first().waitFor({ state: 'detached' });
      assertQuiet(watched);
    });

    test('a policy is saved, and a bad limit is told', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/policy');
      await page.getByLabel('Agent').selectOption({ label: 'Buyer' });
      await page.getByLabel('Most for one payment').fill('many');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('An amount in US dollars, such as 20 or 0.50.').waitFor();
      await page.getByLabel('Only these payees').fill('somebody');
      await page.getByText('somebody is not an address').waitFor();
      await page.getByLabel('Only these payees').fill('');
      await page.getByLabel('Most for one payment').fill('20');
      await page.getByLabel('Ask me before a payment above').fill('5');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Policy saved').waitFor();
      const policy = await call<{ perPayment: string; approvalAbove: string }>(
        'GET',
        `/api/agents/${agents[0]}/payment-policy`,
      );
      assert.deepEqual([Number(policy.perPayment), Number(policy.approvalAbove)], [20, 5]);
      assertQuiet(watched);
    });

    test('an agent enters the register, pays, and what is above its limit waits for its owner', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/gateway');
      await page.getByRole('cell', { name: '$0.05 a call' }).waitFor();
      await page.getByLabel('Agent').selectOption({ label: 'Buyer' });
      await page.getByText('32 / 100').waitFor();
      await page.getByLabel('Wallet address').fill(wallets[0]!);
      await page.getByRole('button', { name: 'Enter the register' }).click();
      await page.getByText('In the register', { exact: true }).waitFor();
      const pay = async (amount: string) => {
        await page.getByLabel('Amount in USD').fill(amount);
        await page.getByLabel('Recipient').fill(wallets[1]!);
        await page.getByRole('button', { name: 'Pay', exact: true }).click();
        await page.getByRole('alertdialog').getByText('A payment cannot be taken back').waitFor();
        await page.getByRole('alertdialog').getByRole('button', { name: 'Pay' }).click();
        await page.getByRole('alertdialog').first().waitFor({ state: 'detached' });
      };
      await pay('2.25');
      await page.getByText('Paid', { exact: true }).waitFor();
      await page.getByText('33 / 100').waitFor();
      await pay('9');
      await page.getByText('Waits for your approval').waitFor();

      await settle(page, '/dashboard');
      await page.getByRole('link', { name: 'Buyer asks to pay $9.00' }).click();
      await page.getByText('waits for you', { exact: true }).waitFor();
      await page.getByRole('cell', { name: '$2.25' }).waitFor();
      await page
        .getByRole('row', { name: /\$9\.00/ })
        .getByRole('button', { name: 'Allow' })
        .click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Allow' }).click();
      await page.getByText('Decided').waitFor();
      await page
        .getByRole('row', { name: /\$9\.00/ })
        .getByText('paid')
        .waitFor();

      await settle(page, '/dashboard/gateway');
      await page.getByLabel('Agent').selectOption({ label: 'Buyer' });
      await pay('7');
      await page.getByText('Waits for your approval').waitFor();
      await settle(page, '/dashboard/inbox');
      await page.getByRole('group', { name: 'Buyer asks to pay $7.00' }).waitFor();
      await page.keyboard.press('a');
      assert.equal(await page.evaluate('document.activeElement?.textContent'), 'Pay $7.00', 'no key pays');
      await assertAccessible(page, 'a payment in the inbox');
      await page.keyboard.press('r');
      await page.getByText('Nothing waits for you').waitFor();
      assertQuiet(watched);
    });

    test('an event is announced, and tickets are bought from an agent’s wallet', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/underground?tab=events');
      await page.getByRole('button', { name: 'Announce an event' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('Boathouse session');
      await form.getByLabel('Agent').selectOption({ label: 'Venue' });
      await form.getByLabel('Description').fill('Unplugged.');
      await form.getByLabel('Venue', { exact: true }).fill('Ghent');
      await form.getByLabel('Date and time').fill('2031-12-04T20:00');
      await form.getByLabel('Ticket price in USDC').fill('8.50');
      await form.getByLabel('Tickets', { exact: true }).fill('3');
      await form.getByRole('button', { name: 'Announce' }).click();
      await page.getByText('0 of 3 sold').waitFor();

      await page.getByRole('button', { name: 'Buy tickets for Boathouse session' }).click();
      const shop = page.getByRole('dialog');
      await shop.getByLabel('For the agent').selectOption({ label: 'Buyer' });
      await shop.getByLabel('How many').fill('4');
      await shop.getByRole('button', { name: 'Pay $34.00' }).click();
      await shop.getByText('Not enough tickets left').waitFor();
      await shop.getByLabel('How many').fill('2');
      await shop.getByRole('button', { name: 'Pay $17.00' }).click();
      await page.getByText('2 tickets for $17.00').waitFor();
      await page.getByText('2 of 3 sold').waitFor();
      // 50.00 less 2.25, 9.00 and 17.00.
      await settle(page, '/dashboard/underground?tab=wallets');
      await page.getByRole('cell', { name: '$21.75' }).waitFor();
      assertQuiet(watched, [/tickets/]);
    });

    test('money is set aside in a session, and the rest comes back', async () => {
      const { page } = watched;
      await settle(page, '/dashboard/wallet');
      await page.getByRole('button', { name: 'Create a wallet' }).click();
      await page.getByLabel('Deposit, 1 to 100 USD').fill('10');
      await page.getByRole('button', { name: 'Open a session' }).click();
      await page.getByRole('cell', { name: '$10.00' }).first().waitFor();
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      await page.getByRole('alertdialog').getByText('$10.00').first().waitFor();
      await page.getByRole('alertdialog').getByRole('button', { name: /Close/ }).click();
      await page.getByText('closed').first().waitFor();
      assertQuiet(watched);
    });
  },
  cardEnv(cards.address),
);
