import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { newId } from '@troupe/kernel';
import { sql } from 'kysely';
import { assertQuiet, enter, openPage, settle } from './browser.ts';
import type { WatchedPage } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** How an agent's memory is filled and searched, and what its owner decides about facts. */

const database: TestDatabase = await testDatabase();

browserSuite(
  'facts of an agent, in the browser',
  (stage) => {
    let agentId = '';
    let watched: WatchedPage;
    const open = () => settle(watched.page, `/dashboard/agents/${agentId}?tab=memory`);

    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Ada' });
      agentId = made.agent.id;
      await call('POST', '/api/chat', { agentId, message: 'I live in Oslo now.' });
      watched = await openPage(stage.browser, stage.platform.url);
      await enter(watched.page, stage.platform.owner);
    });
    after(async () => {
      await watched?.context.close();
      await database.drop();
    });

    test('both are off, and stay as they are set', async () => {
      const { page } = watched;
      await open();
      const facts = page.getByLabel('Find facts in conversations');
      assert.equal(await facts.isChecked(), false);
      await facts.click();
      await page.getByText('None have been found yet.').waitFor();
      await page.getByLabel('Embeddings model').fill('openai/text-embedding-3-small');
      await page.getByRole('button', { name: 'Save the model' }).click();
      await page.getByText('0 of 0 memories are found by meaning.').waitFor();
      await open();
      assert.equal(await facts.isChecked(), true);
      assert.equal(await page.getByLabel('Embeddings model').inputValue(), 'openai/text-embedding-3-small');
      assertQuiet(watched);
    });

    test('what it kept without a name is called by its first words, changed in place and forgotten', async () => {
      const { page } = watched;
      const content = 'Berlin moved to the fifth of May, because the hall is taken on the fourth by somebody else.';
      const title = 'Berlin moved to the fifth of May, because the hall is taken …';
      const { rows } = await sql<{
        userId: string;
      }>`select user_id as "userId" from agents where id = ${agentId}`.execute(database.db.system);
      await sql`insert into agent_memory (id, user_id, agent_id, scope, content, created_at, updated_at, expires_at)
        values (${newId()}, ${rows[0]!.userId}, ${agentId}, ${`agent:${agentId}`}, ${content}, now(), now(),
          now() + interval '1 day')`.execute(database.db.system);
      await open();
      const table = page.getByRole('table', { name: 'Memory' });
      await table.getByRole('cell', { name: title, exact: true }).waitFor();
      assert.doesNotMatch(await table.innerText(), /[0-9a-f]{8}-[0-9a-f]{4}/);
      await page.getByRole('button', { name: `Edit ${title}` }).click();
      const form = page.getByRole('dialog', { name: `Edit ${title}` });
      assert.equal(await form.getByLabel('About').count(), 0);
      await form.getByLabel('What it remembers').fill('Berlin is on 6 May.');
      await form.getByRole('button', { name: 'Save' }).click();
      await table.getByRole('cell', { name: 'Berlin is on 6 May.' }).first().waitFor();
      await table.getByText(title).first().waitFor({ state: 'detached' });
      assert.equal(await table.getByRole('row').count(), 1 + 1);
      await page.getByRole('button', { name: 'Forget Berlin is on 6 May.?' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('It remembers nothing yet').waitFor();
      assertQuiet(watched);
    });

    test('a fact leads to where it was said; one that contradicts another waits for a decision', async () => {
      const { page } = watched;
      const { rows } = await sql<{ id: string; userId: string }>`select id, user_id as "userId" from agent_sessions
        where agent_id = ${agentId}`.execute(database.db.system);
      const { id: sessionId, userId } = rows[0]!;
      const known = newId();
      for (const [id, content, disputes] of [
        [known, 'The user lives in Rome.', null],
        [newId(), 'The user lives in Oslo.', [known]],
      ] as const)
        await sql`insert into agent_memory (id, user_id, agent_id, scope, content, created_at, updated_at, expires_at,
            source_session, source_seq, disputes)
          values (${id}, ${userId}, ${agentId}, ${`agent:${agentId}`}, ${content}, now(), now(), now() + interval '1 day',
            ${sessionId}, 1, ${disputes}::text[])`.execute(database.db.system);
      await open();
      await page.getByText('It contradicts what was known before').waitFor();
      await page.getByRole('button', { name: 'Keep the new one' }).click();
      await page.getByText('It contradicts what was known before').first().waitFor({ state: 'detached' });
      await page.getByText('The user lives in Rome.').first().waitFor({ state: 'detached' });
      await page.getByRole('link', { name: /^From “I live in Oslo now/ }).click();
      // The link itself has these words, too.
      await page.waitForURL((url) => url.searchParams.get('c') === sessionId);
      await page.getByText('I live in Oslo now.', { exact: true }).first().waitFor();
      assertQuiet(watched);
    });
  },
  { DATABASE_URL: database.url },
);
