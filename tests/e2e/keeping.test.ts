import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { entriesOf } from '@troupe/kernel/archive';
import type { Page } from 'playwright-core';
import { assertAccessible, assertQuiet, enter, openPage, say, settle, soon } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

interface Spoken {
  role: string;
  content: string | { type: string; text?: string }[] | null;
}

const textOf = ({ content }: Spoken): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '', type }) => text || `<${type}>`).join(' ');

/** Says what it was told, writes a page when asked to, and tells whether it was shown a picture. */
const model: StandIn = await createStandIn((request, response) => {
  const messages = (request.body['messages'] ?? []) as Spoken[];
  const said = textOf(messages.findLast(({ role }) => role === 'user') ?? { role: '', content: '' });
  if (said.startsWith('Write') && messages.at(-1)?.role !== 'tool') {
    const args = { path: 'site/page.html', content: '<h1>Plan</h1><script>parent.document.title = "owned"</script>' };
    const toolCalls = [{ id: 'c', name: 'write_file', arguments: JSON.stringify(args) }];
    return replyChat(request, response, { content: null, toolCalls });
  }
  const isSeen = said.includes('<image_url>');
  replyChat(request, response, {
    content: `Heard: ${said.split('\n')[0]}${isSeen ? ' and saw it' : ''}${said.includes('Berlin moved') ? ', read it' : ''}`,
  });
});

const env = { OPENROUTER_API_KEY: 'sk-test', OPENROUTER_BASE_URL: model.url };
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC',
  'base64',
);
const PDF = `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >> endobj
4 0 obj << /Length 52 >>
stream
BT /F 12 Tf 20 700 Td (Berlin moved to 5 May) Tj ET
endstream endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
trailer << /Root 1 0 R >>`;

const log = (page: Page) => page.getByRole('log');
browserSuite(
  'files, branches and runs, in the browser',
  (stage) => {
    let watched: WatchedPage;
    let agentId = '';
    const open = (query: string) => settle(watched.page, `/dashboard/agents/${agentId}?${query}`);
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const { agent } = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', {
        name: 'Ada',
        model: 'openai/gpt-4o-mini',
        config: { tools: ['filesystem'] },
      });
      agentId = agent.id;
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await model.close();
    });

    test('a picture and a PDF go with a message, are seen and read, and stay in the thread', async () => {
      const { page } = watched;
      await open('tab=chat');
      await page.getByLabel('Files to attach').setInputFiles([
        { name: 'stage.png', mimeType: 'image/png', buffer: PNG },
        { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from(PDF) },
      ]);
      const list = page.getByRole('list', { name: 'Files that go along' });
      await list.getByText('plan.pdf').waitFor();
      // A draft with its files outlives the page.
      await page.getByLabel('Message').fill('What is new?');
      await page.getByText('uploading').first().waitFor({ state: 'detached' });
      await open('tab=chat');
      await list.getByText('stage.png').waitFor();
      await page.getByLabel('Message').press('Enter');
      await log(page).getByText('Heard: What is new? and saw it, read it').waitFor();
      const picture = log(page).getByRole('img', { name: 'stage.png' });
      await picture.waitFor();
      const width = () => picture.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth);
      await soon(async () => assert.equal(await width(), 10));
      await log(page).getByRole('button', { name: 'Open uploads/plan.pdf' }).waitFor();

      // Pasted and dropped files are taken alike.
      await page.evaluate(`{
        const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (char) => char.charCodeAt(0));
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
        const field = document.querySelector('textarea');
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      }`);
      await list.getByText('pasted.png').waitFor();
      await page.getByRole('button', { name: 'Remove pasted.png' }).click();
      await list.waitFor({ state: 'detached' });
      await assertAccessible(page, 'a conversation with files');
      assertQuiet(watched);
    });

    test('a message is edited, answered again and switched between; all that was said stays', async () => {
      const { page } = watched;
      await page.getByRole('button', { name: 'New conversation' }).click();
      await page.getByText('Say hello').waitFor();
      await say(page, 'First question');
      await log(page).getByText('Heard: First question').waitFor();
      await say(page, 'Second question');
      await log(page).getByText('Heard: Second question').waitFor();

      const second = log(page).locator('article', { hasText: 'Second question' }).first();
      await second.hover();
      await second.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Edit your words').fill('Another question');
      await page.getByRole('button', { name: 'Send as a branch' }).click();
      await log(page).getByText('Heard: Another question').waitFor();
      await log(page).getByText('Heard: First question').waitFor();
      await log(page).getByText('Second question').first().waitFor({ state: 'detached' });

      await log(page).getByRole('group', { name: '2 of 2' }).waitFor();
      await log(page).getByRole('button', { name: 'Previous branch' }).click();
      await log(page).getByText('Heard: Second question').waitFor();
      await log(page).getByRole('group', { name: '1 of 2' }).waitFor();
      await page.keyboard.press('Alt+ArrowRight');
      await log(page).focus();
      await page.keyboard.press('Alt+ArrowRight');
      await log(page).getByText('Heard: Another question').waitFor();

      const answer = log(page).locator('article', { hasText: 'Heard: Another question' });
      await answer.hover();
      await answer.getByRole('button', { name: 'Answer again', exact: true }).click();
      await log(page).getByRole('group', { name: '3 of 3' }).waitFor();
      await assertAccessible(page, 'a conversation with branches');
      // The list has it once.
      const list = page.getByRole('navigation', { name: 'Conversations' });
      assert.equal(await list.getByRole('button', { name: /^First question/ }).count(), 1);
      assertQuiet(watched);
    });

    test('conversations are named, pinned, searched, exported, shown to others, put away and deleted', async () => {
      const { page } = watched;
      const list = page.getByRole('navigation', { name: 'Conversations' });
      const options = () => page.getByRole('button', { name: 'Conversation options' }).click();
      await page.getByRole('button', { name: 'Conversation options' }).focus();
      await page.keyboard.press('F2');
      await page.getByLabel('Title').fill('Tour 🎭 جولة');
      await page.getByRole('button', { name: 'Rename' }).click();
      await list.getByRole('button', { name: /^Tour/ }).waitFor();
      await options();
      await page.getByRole('button', { name: 'Pin', exact: true }).click();
      await page.getByRole('button', { name: 'Unpin' }).waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Export as Markdown' }).click(),
      ]);
      assert.match(await readFile(await download.path(), 'utf8'), /^# Tour 🎭 جولة\n/);

      await page.getByRole('button', { name: 'Make a link that shows it' }).click();
      const link = await page.getByRole('dialog').locator('pre').innerText();
      await assertAccessible(page, 'the options of a conversation');
      await page.keyboard.press('Escape');
      await list.getByRole('heading', { name: 'Pinned' }).waitFor();
      const stranger = await openPage(stage.browser, stage.platform.url);
      await stranger.page.goto(new URL(link).pathname);
      await stranger.page.getByText('Heard: First question').waitFor();
      await stranger.page.getByText('With Ada, as it was on').waitFor();
      await assertAccessible(stranger.page, 'a shared conversation');
      assertQuiet(stranger);
      await stranger.context.close();

      await list.getByLabel('Search in all conversations').fill('what is new');
      // How many were found: until then the list is that of all.
      await list.getByRole('status').waitFor();
      await list
        .getByRole('button', { name: /What is new/ })
        .first()
        .click();
      await page.waitForURL(/[?&]at=/);
      await log(page).getByText('and saw it, read it').waitFor();
      await list.getByLabel('Search in all conversations').fill('');

      await list.getByRole('button', { name: /^Tour/ }).click();
      await log(page).getByText('First question', { exact: true }).waitFor();
      await options();
      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('button', { name: 'Bring back' }).waitFor();
      await page.keyboard.press('Escape');
      await list.getByRole('button', { name: /^Tour/ }).first().waitFor({ state: 'detached' });
      await list.getByRole('button', { name: 'Show archived' }).click();
      await list.getByRole('button', { name: /^Tour/ }).click();
      await options();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('Say hello').waitFor();
      assertQuiet(watched);
    });

    test('what the agent wrote is opened from the chat, and is in its files; a page in it runs nothing', async () => {
      const { page } = watched;
      const title = await page.title();
      await say(page, 'Write the page');
      await log(page).getByRole('button', { name: 'Open the file' }).click();
      const frame = page.frameLocator('iframe[title="page.html, shown without scripts"]');
      await frame.getByRole('heading', { name: 'Plan' }).waitFor();
      assert.equal(await page.title(), title);
      await page.keyboard.press('Escape');

      await open('tab=files');
      await page.getByRole('button', { name: 'site', exact: true }).click();
      await page.getByRole('button', { name: 'page.html', exact: true }).waitFor();
      await page.getByLabel('Upload', { exact: true }).setInputFiles([
        { name: 'fees.csv', mimeType: 'text/csv', buffer: Buffer.from('City,Fee\n"Köln, am Rhein",400\n') },
        { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes\n- **one**') },
      ]);
      await page.getByRole('button', { name: 'notes.md', exact: true }).waitFor();
      await page.getByRole('button', { name: 'fees.csv', exact: true }).click();
      await page.getByRole('cell', { name: 'Köln, am Rhein' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'notes.md', exact: true }).click();
      await page.getByRole('dialog').locator('strong', { hasText: 'one' }).waitFor();
      await page.keyboard.press('Escape');
      const saved = async (name: string) => {
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
        return download;
      };
      assert.equal((await saved('Download fees.csv')).suggestedFilename(), 'fees.csv');
      const folder = await saved('Download as zip');
      assert.equal(folder.suggestedFilename(), 'site.zip');
      const packed = entriesOf(await readFile(await folder.path())) ?? [];
      assert.deepEqual(packed.map(({ path }) => path).sort(), ['fees.csv', 'notes.md', 'page.html']);
      await page.getByRole('button', { name: 'Delete fees.csv' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'fees.csv', exact: true }).first().waitFor({ state: 'detached' });
      await assertAccessible(page, 'files');
      // Chromium says what the page of the agent was kept from.
      assertQuiet(watched, [/Blocked script execution in 'about:srcdoc'/]);
    });
  },
  env,
);
