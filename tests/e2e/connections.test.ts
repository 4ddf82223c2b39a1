import { after, before, test } from 'node:test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEverything } from '@troupe/testing/mcp/everything';
import { assertAccessible, assertQuiet, openPage, settle, signIn } from './browser.ts';
import { signedInCaller } from './content.ts';
import { browserSuite } from './suite.ts';

/** The port is known before the platform starts: its operator names the host. */
const everything = createEverything();
const server: Server = createServer((request, response) => {
  void (async () => {
    const chunks = (await request.toArray()) as Buffer[];
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const answered = await everything.fetch(
      new Request('http://x/mcp', { method: request.method ?? 'GET', headers, ...body }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(await answered.text());
  })();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

browserSuite(
  'MCP servers of an agent',
  (stage) => {
    let agentId: string;
    before(async () => {
      const { call } = await signedInCaller(stage.platform, stage.platform.owner);
      const made = await call<{ agent: { id: string } }>('POST', '/api/agents/provision', { name: 'Ada' });
      agentId = made.agent.id;
    });
    after(() => server.close().closeAllConnections());

    test('are attached, tried and removed', async () => {
      const watched = await openPage(stage.browser, stage.platform.url);
      const { page } = watched;
      await signIn(page, stage.platform.owner);
      await settle(page, `/dashboard/agents/${agentId}?tab=connections`);
      await page.getByText('No servers yet.').waitFor();
      await page.getByLabel('Name', { exact: true }).fill('things');
      await page.getByLabel('Address or command').fill(`http://${host}/mcp`);
      await page.getByRole('button', { name: 'Attach' }).click();
      await page.getByRole('button', { name: 'Test' }).click();
      await page.getByText('works', { exact: true }).waitFor();
      await page.getByText(/things_test_simple_text/).waitFor();
      await assertAccessible(page, 'MCP servers of an agent');
      await page.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('No servers yet.').waitFor();
      assertQuiet(watched);
      await watched.context.close();
    });
  },
  { AGENT_PRIVATE_HOSTS: host },
);
