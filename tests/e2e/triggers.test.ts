import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { assertAccessible, assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** What a person's own program was told. */
interface Told {
  body: string;
  headers: Record<string, string>;
}
const told: Told[] = [];
const program = createServer((request, response) => {
  void request.toArray().then((chunks: Buffer[]) => {
    told.push({ body: Buffer.concat(chunks).toString(), headers: request.headers as Record<string, string> });
    response.writeHead(told.length === 2 ? 500 : 200).end();
  });
});
program.listen(0, '127.0.0.1');
await once(program, 'listening');
const address = `http://127.0.0.1:${(program.address() as AddressInfo).port}/hooks`;

browserSuite('tasks, what starts them and what is told, in the browser', (stage) => {
  let watched: WatchedPage;
  let page: WatchedPage['page'];
  before(async () => {
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    await call('POST', '/api/agents/provision', { name: 'Scout', model: 'sandbox/echo' });
    watched = await openPage(stage.browser, stage.platform.url);
    page = watched.page;
    await enter(page, stage.platform.owner);
  });
  after(async () => {
    await watched?.context.close();
    program.close().closeAllConnections();
  });

  test('a task is tried before it is saved, and says on which channel it tells', async () => {
    await settle(page, '/dashboard/tasks?new=1');
    await page.getByLabel('Name').fill('Morning');
    assert.equal(await page.getByRole('button', { name: 'Try once' }).isDisabled(), true);
    await page.getByLabel('Prompt').fill('What moved in the night?');
    await page.getByRole('button', { name: 'Try once' }).click();
    const tried = page.getByRole('region', { name: 'Try it' });
    await tried.getByText('Done', { exact: true }).waitFor();
    await tried.getByText(/What moved in the night\?/).waitFor();
    await page.getByLabel('Tells you').selectOption('telegram');
    await page.getByText('Telegram is not connected to this agent yet.').waitFor();
    await assertAccessible(page, 'the form of a task');
    await page.getByLabel('How often').selectOption('triggered');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Task saved').waitFor();
    await page.getByRole('button', { name: 'Edit task: Morning' }).click();
    assert.equal(await page.getByLabel('Tells you').inputValue(), 'telegram');
    await page.keyboard.press('Escape');
    assertQuiet(watched);
  });

  test('what starts a task is added, delivered to, switched off and removed', async () => {
    await settle(page, '/dashboard/tasks');
    await page.getByRole('button', { name: 'Triggers' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Nothing but its schedule').waitFor();
    await dialog.getByRole('button', { name: 'Add' }).click();
    const secret = (await dialog.getByLabel('Secret, shown this once').innerText()).trim();
    const hook = (await dialog.getByLabel('Address').innerText()).trim();
    await assertAccessible(page, 'what starts a task');
    const deliver = () =>
      fetch(hook, { method: 'POST', headers: { authorization: `Bearer ${secret}` }, body: '{"order":"9 posters"}' });
    assert.equal((await deliver()).status, 202);

    await dialog.getByLabel('Starts when').selectOption('file');
    await dialog.getByLabel('Files').fill('inbox/*.pdf');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('inbox/*.pdf').first().waitFor();
    const first = dialog.getByRole('listitem').filter({ hasText: '/api/hooks/' });
    await first.getByRole('button', { name: 'Switch off' }).click();
    await first.getByRole('button', { name: 'Switch on' }).waitFor();
    assert.notEqual((await deliver()).status, 202);
    await first.getByRole('button', { name: 'Remove this trigger?' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await first.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByLabel('Input (optional)').fill('by hand');
    await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click();
    await page.getByText('It runs in a moment').waitFor();
    for (;;) {
      await page.getByRole('button', { name: 'Morning', exact: true }).click();
      await page.getByText('by webhook').waitFor();
      const isDone = (await page.getByRole('dialog').getByText('succeeded').count()) === 2;
      if (isDone) break;
      await page.keyboard.press('Escape');
      await page.waitForTimeout(300);
    }
    await page.getByText('What arrived').first().click();
    await page.keyboard.press('Escape');
    assertQuiet(watched);
  });

  test('a webhook is made, tried, its log read and sent again, changed and deleted', async () => {
    await settle(page, '/dashboard/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(address);
    await dialog.getByRole('button', { name: 'Make it' }).click();
    const secret = (await dialog.locator('pre').innerText()).trim();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('button', { name: 'What was told' }).click();
    await dialog.getByText('Nothing was told yet').waitFor();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByText('delivered').waitFor();
    const { type } = new Webhook(secret).verify(told[0]!.body, told[0]!.headers) as { type: string };
    assert.equal(type, 'webhook.test');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText('answered 500').waitFor();
    await assertAccessible(page, 'what was told');
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('A task has failed').uncheck();
    await dialog.getByLabel('It is told').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('off', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhooks yet').waitFor();
    assertQuiet(watched);
  });
});
