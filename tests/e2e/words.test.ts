import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import type { Caller } from './content.ts';
import { browserSuite } from './suite.ts';

const LONG = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbe';

/** The last of these buttons is where a person can press it. */
async function assertInSight(page: Page, name: RegExp): Promise<void> {
  const box = await page.getByRole('button', { name }).last().boundingBox();
  const { width } = page.viewportSize()!;
  assert.ok(box && box.x >= 0 && box.x + box.width <= width, `${String(name)} lies at ${JSON.stringify(box)}`);
}

browserSuite('what people read', (stage) => {
  let watched: WatchedPage;
  let call: Caller['call'];
  const agents: string[] = [];

  before(async () => {
    ({ call } = await signedInCaller(stage.platform, stage.platform.owner));
    for (const name of ['Booking', LONG]) {
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name,
        model: 'sandbox/echo',
        config: { instruction: 'You answer offers.', tools: ['memory'] },
      });
      agents.push(made.agent.id);
    }
    watched = await openPage(stage.browser, stage.platform.url, { viewport: { width: 1280, height: 860 } });
    await enter(watched.page, stage.platform.owner);
  });

  test('what an agent is for is shown and changed', async () => {
    const { page } = watched;
    await settle(page, `/dashboard/agents/${agents[0]}?tab=settings`);
    const instruction = page.getByLabel('Instruction');
    assert.equal(await instruction.inputValue(), 'You answer offers.');
    assert.equal(await page.getByRole('checkbox', { name: /^Files/ }).isChecked(), false);
    await instruction.fill('You answer offers in one sentence.');
    await page.getByRole('checkbox', { name: /^Files/ }).check();
    await page.getByRole('button', { name: 'Save what it is for' }).click();
    await page.getByText('The agent goes by it from its next step on').waitFor();
    const purpose = await call<{ instruction: string; tools: string[] }>('GET', `/api/agents/${agents[0]}/purpose`);
    assert.deepEqual(
      [purpose.instruction, purpose.tools.toSorted()],
      ['You answer offers in one sentence.', ['filesystem', 'memory']],
    );
    assertQuiet(watched);
  });

  test('what was typed and not saved is there again, until it is saved or begun anew; tokens are not', async () => {
    const { page } = watched;
    await settle(page, '/dashboard/agents/new');
    await page.getByLabel('Name').fill('Halfway');
    await page.getByLabel('Instruction').fill('You were not finished.');
    await page.getByText('Channels', { exact: true }).click();
    await page.getByLabel('Telegram bot token').fill('1234:secret');
    await settle(page, '/dashboard');
    assert.doesNotMatch(await page.evaluate('JSON.stringify(localStorage)'), /1234:secret/);
    await settle(page, '/dashboard/agents/new');
    await page.getByText('This is what you had typed and not saved.').waitFor();
    assert.equal(await page.getByLabel('Instruction').inputValue(), 'You were not finished.');
    assert.equal(await page.getByLabel('Telegram bot token').inputValue(), '');
    await page.getByRole('button', { name: 'Begin anew' }).click();
    assert.equal(await page.getByLabel('Name').inputValue(), '');
    await page.reload();
    await page.getByLabel('Name').waitFor();
    assert.equal(await page.getByText('This is what you had typed').count(), 0);

    await settle(page, '/dashboard/tasks?new=1');
    await page.getByLabel('Prompt').fill('What moved in the night?');
    await page.keyboard.press('Escape');
    await settle(page, '/dashboard/tasks?new=1');
    assert.equal(await page.getByLabel('Prompt').inputValue(), 'What moved in the night?');
    await page.getByRole('button', { name: 'Cancel' }).click();

    await settle(page, `/dashboard/agents/${agents[1]}?tab=settings`);
    await page.getByLabel('Instruction').fill('Half a thought');
    await settle(page, `/dashboard/agents/${agents[1]}?tab=settings`);
    assert.equal(await page.getByLabel('Instruction').inputValue(), 'Half a thought');
    await page.getByRole('button', { name: 'Save what it is for' }).click();
    await page.getByText('The agent goes by it from its next step on').waitFor();
    await page.reload();
    await page.getByLabel('Instruction').waitFor();
    assert.equal(await page.getByText('This is what you had typed').count(), 0);
    assertQuiet(watched);
  });

  test('a schedule says its time zone, and long names leave its buttons in sight', async () => {
    const { page } = watched;
    await call('POST', '/api/scheduled-tasks', {
      name: LONG + LONG,
      cronSchedule: '0 8 * * *',
      prompt: 'Report.',
      agentId: agents[1],
      timezone: 'Europe/Berlin',
    });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      await settle(page, '/dashboard/tasks');
      await page.getByText('every day at 08:00 (Europe/Berlin)').waitFor();
      await assertInSight(page, /^Delete the task/);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
    assertQuiet(watched);
  });

  test('a message between agents is told in words, not in JSON and ids', async () => {
    const { page } = watched;
    for (const agentId of agents) await call('POST', '/api/underground/wallets', { agentId });
    await settle(page, '/dashboard/underground?tab=bookings');
    await page.getByRole('button', { name: 'New booking' }).click();
    await page.getByLabel('From your agent').selectOption(agents[0]!);
    await page.getByLabel('To the agent').fill(agents[1]!);
    await page.getByLabel('Who is booked').fill('Okta');
    await page.getByLabel('Amount in USD').fill('280');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('row').filter({ hasText: 'accepted' }).waitFor();
    await settle(page, `/dashboard/agents/${agents[1]}?tab=work&part=messages`);
    const row = page.getByRole('row').filter({ hasText: 'Booking: offer' });
    await row.getByText('talent: Okta').waitFor();
    await row.getByText('Booking', { exact: true }).waitFor();
    assert.doesNotMatch(await row.innerText(), new RegExp(`[{}]|${agents[0]}`));
    assertQuiet(watched);
  });

  test('a split is begun from the page, and shown with what each recipient is owed', async () => {
    const { page } = watched;
    await settle(page, '/dashboard/underground?tab=splits');
    await page.getByRole('button', { name: 'New split' }).click();
    const dialog = page.getByRole('dialog', { name: 'New split' });
    await dialog.getByLabel('Name').fill('Tour royalties');
    await dialog.getByLabel('Agent').selectOption(agents[0]!);
    await dialog.getByLabel('Amount in USDC').fill('10');
    const [one, other] = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000b2'];
    // Shares that are no whole are told at the form, and nothing is made.
    await dialog.getByLabel('Recipients').fill(`${one} 60\n${other} 30`);
    await dialog.getByRole('button', { name: 'Split' }).click();
    await dialog.getByText('Recipient shares must total 100% (got 90%)').waitFor();
    await dialog.getByLabel('Recipients').fill(`${one} 60\n${other} 40`);
    await dialog.getByRole('button', { name: 'Split' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'Tour royalties' });
    await row.getByText('owed in the ledger').waitFor();
    assert.match(await row.innerText(), /\$10\.00[\s\S]*60\s?%[\s\S]*\$6\.00[\s\S]*40\s?%[\s\S]*\$4\.00/);
    const { splits } = await call<{ splits: { name: string }[] }>('GET', '/api/underground/splits');
    assert.deepEqual(
      splits.map(({ name }) => name),
      ['Tour royalties'],
    );
    assertQuiet(watched, [/ 400 /]);
  });

  test('a team that was started shows who is in it', async () => {
    const { page } = watched;
    await settle(page, '/dashboard/teams?tab=gallery');
    await page.getByRole('button', { name: 'Use Content Team' }).click();
    await page.getByRole('button', { name: 'Start the team' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 of 3 agents are ready.').waitFor();
    assert.match(await dialog.getByRole('listitem').first().innerText(), /^manager\s+Content Manager\s+ready$/);
    assertQuiet(watched);
  });

  test('what the platform refuses is told, where nothing is asked first, too', async () => {
    const { page } = watched;
    const refuse = (path: string) =>
      page.route(`**${path}`, (route) =>
        route.request().method() === 'GET'
          ? route.continue()
          : route.fulfill({ status: 502, contentType: 'application/json', body: '{"error":"Backend unavailable"}' }),
      );
    const told = page.getByRole('alert').getByText('Backend unavailable');
    await refuse('/api/heartbeat');
    await settle(page, '/dashboard/heartbeat');
    await page.getByLabel('Every (Booking)').selectOption('1h');
    await told.waitFor();
    await refuse('/api/scheduled-tasks');
    await settle(page, '/dashboard/tasks');
    await page.getByRole('button', { name: 'Switch off' }).first().click();
    await told.waitFor();
    await page.unrouteAll();
    assertQuiet(watched, [/ 502 /]);
  });
});
