import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, assertQuiet, enter, openPage, settle, soon } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

browserSuite('operations in the browser', (stage) => {
  test('the configuration is changed in the form, shown as a difference, and restored', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    await settle(page, '/dashboard/config');
    const days = page.getByLabel('Days until a memory is forgotten');
    const before = await days.inputValue();
    await days.fill('7');
    await page.getByText('Unsaved changes').click();
    await page.getByText('memory.ttlDays').waitFor();
    await page.getByRole('button', { name: 'Save configuration' }).click();
    await page.getByText('The version before is among the backups').waitFor();

    await page.getByRole('button', { name: 'JSON' }).click();
    await page.getByLabel('JSON').fill('{ not json');
    await page.getByText('This is not valid JSON').waitFor();
    await page.reload();

    await page
      .getByRole('button', { name: /^Compare/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('memory.ttlDays').waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Restored').waitFor();
    await page.reload();
    await page.getByLabel('Days until a memory is forgotten').waitFor();
    assert.equal(await page.getByLabel('Days until a memory is forgotten').inputValue(), before);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('a link of the inbox or of a message opens its task', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Clerk' });
    const given = { name: 'Report', cronSchedule: '0 9 * * *', prompt: 'Report.', agentId: agent.id };
    const task = await call<{ id: string }>('POST', '/api/scheduled-tasks', given);
    await settle(page, `/dashboard/tasks?task=${task.id}`);
    const form = page.getByRole('dialog', { name: 'Edit task' });
    assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'Report');
    await form.getByLabel('Name', { exact: true }).fill('Daily report');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Daily report', exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, '');
    await settle(page, `/dashboard/tasks?task=gone`);
    await page.getByText('it may have been deleted').waitFor();
    await call('DELETE', `/api/agents/${agent.id}`);
    assertQuiet(watched);
    await watched.context.close();
  });

  test('one like it is made, several are tagged, found, exported, stopped and deleted at once', async () => {
    const watched = await openPage(stage.browser, stage.platform.url);
    const { page } = watched;
    await enter(page, stage.platform.owner);
    const { call } = await signedInCaller(stage.platform, stage.platform.owner);
    await call('POST', '/api/agents/provision', { name: 'Ada', config: { instruction: 'You greet people.' } });
    await settle(page, '/dashboard/agents');
    await page.getByRole('link', { name: 'Ada' }).click();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Name and life' }).click();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Ada copy', exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Name and life' }).click();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Ada copy copy', exact: true }).waitFor();

    await settle(page, '/dashboard/agents');
    await page.getByRole('checkbox', { name: 'Choose Ada copy', exact: true }).check();
    await page.getByRole('checkbox', { name: 'Choose Ada copy copy' }).check();
    const bar = page.getByRole('region', { name: 'What to do with the chosen agents' });
    await bar.getByText('2 chosen').waitFor();
    await assertAccessible(page, 'chosen agents');
    await bar.getByRole('button', { name: 'Add a tag' }).click();
    await page.getByRole('dialog').getByLabel('Tag').fill('twins');
    await page.getByRole('dialog').getByRole('button', { name: 'Add a tag' }).click();
    await page.getByText('Add a tag: done for 2 agents').waitFor();
    await soon(async () => assert.equal(await page.getByText('twins', { exact: true }).count(), 2));

    const choose = async () => {
      for (const name of ['Choose Ada copy', 'Choose Ada copy copy'])
        await page.getByRole('checkbox', { name, exact: true }).check();
    };
    await choose();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      bar.getByRole('button', { name: 'Export' }).click(),
    ]);
    const { agents } = JSON.parse(await readFile(await file.path(), 'utf8')) as { agents: Record<string, unknown>[] };
    assert.deepEqual(
      agents.map(({ name, instruction, tags }) => [name, instruction, tags]),
      ['Ada copy', 'Ada copy copy'].map((name) => [name, 'You greet people.', ['twins']]),
    );
    await page.getByText('Export: done for 2 agents').waitFor();
    await choose();
    await bar.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stop: done for 2 agents').waitFor();
    await soon(async () => assert.equal(await page.getByRole('cell', { name: 'off', exact: true }).count(), 2));
    await choose();
    await bar.getByRole('button', { name: 'Delete' }).click();
    const ask = page.getByRole('alertdialog');
    await ask.getByText('Ada copy, Ada copy copy').waitFor();
    await ask.getByRole('textbox').fill('2');
    await ask.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Delete: done for 2 agents').waitFor();
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor();
    await soon(async () => assert.equal(await page.getByText('Ada copy').count(), 0));
    assertQuiet(watched);
    await watched.context.close();
  });
});
