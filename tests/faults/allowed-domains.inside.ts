import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { startBackendProcess, type BackendProcess } from '@troupe/testing/processes/backend';
import { SITES } from '@troupe/testing/machine/closed-network';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';

/** Runs in a network that holds three sites on public addresses and this process; started by the test of the same name. */

type Site = keyof typeof SITES;
const asked: string[] = [];
const servers: http.Server[] = [];
let director: Director;
let backend: BackendProcess;
let dataDir: string;

before(async () => {
  for (const [name, address] of Object.entries(SITES)) {
    const server = http.createServer((request, response) => {
      asked.push(`${name}${request.url}`);
      if (request.url === '/away') return void response.writeHead(302, { location: 'http://other.test/' }).end();
      response.end(`this is ${name}, asked as ${request.headers.host}`);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(80, address, resolve));
  }
  director = await createDirector();
  dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-domains-'));
  backend = await startBackendProcess({
    DATABASE_URL: process.env['DATABASE_URL']!,
    DATA_DIR: dataDir,
    OPENROUTER_BASE_URL: director.provider.url,
  });
  await backend.ask('POST', '/api/deployments', {
    agentId: 'walker',
    config: { name: 'walker', plan: 'solo', tools: ['shell', 'fetch'] },
  });
});
after(async () => {
  await backend.end('SIGTERM');
  await director.provider.close();
  for (const server of servers) server.close();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => void asked.splice(0));

async function allow(...allowedDomains: string[]): Promise<void> {
  const changed = await backend.send('PUT', '/api/agents/walker', { config: { safety: { allowedDomains } } });
  assert.equal(changed.status, 200);
}

let conversations = 0;
/** The result of one call, as the model gets it. */
async function use(tool: string, args: object): Promise<{ content: string; isError: boolean }> {
  const session = `c${(conversations += 1)}`;
  const response = await backend.chat('walker', steps({ tool, args }, { say: 'done' }), session);
  assert.equal(response.status, 200, await response.clone().text());
  return (await backend.log('walker', session))!.events.find(({ type }) => type === 'tool_result');
}
const read = (url: string) => use('fetch', { url });
/** A program that knows nothing of proxies but what its environment says. */
const command = async (url: string): Promise<string> =>
  (
    await use('shell', {
      cmd: `node -e "require('http').get('${url}',r=>{console.log(r.statusCode);r.pipe(process.stdout)}).on('error',e=>console.log('no way', e.code))"`,
    })
  ).content;
const page = (site: Site): string => `this is ${site}, asked as ${site}`;

test('fetch reads the allowed site, and asks no other for anything', async () => {
  await allow('allowed.test');
  assert.equal((await read('http://allowed.test/')).content, page('allowed.test'));
  const { content, isError } = await read('http://other.test/');
  assert.deepEqual([isError, content], [true, 'The owner does not allow other.test.']);
  const sent = await read('http://allowed.test/away');
  assert.deepEqual([sent.isError, sent.content], [true, 'The owner does not allow other.test.']);
  assert.equal((await read(`http://${SITES['allowed.test']}/`)).isError, true, 'by its number it is not named');
  assert.deepEqual(asked, ['allowed.test/', 'allowed.test/away']);
});

test('a command reaches the allowed site through the proxy, and no other by any way', async () => {
  await allow('allowed.test');
  assert.equal(await command('http://allowed.test/'), `200\n${page('allowed.test')}`);
  assert.equal(await command('http://other.test/'), '403\nother.test:80 is not allowed\n');
  const direct = await use('shell', {
    cmd: Object.values(SITES)
      .map((address) => `bash -c 'exec 3<>/dev/tcp/${address}/80' 2>/dev/null && echo REACHED ${address}`)
      .join('; ')
      .concat('; echo tried'),
  });
  assert.equal(direct.content.trim(), 'tried');
  assert.deepEqual(asked, ['allowed.test/']);
});

test('a name stands for all below it too, with a star for those alone, and a change counts at once', async () => {
  await allow('allowed.test');
  assert.equal((await read('http://www.allowed.test/')).content, page('www.allowed.test'));
  await allow('*.allowed.test');
  assert.equal(await command('http://allowed.test/'), '403\nallowed.test:80 is not allowed\n');
  assert.equal((await read('http://www.allowed.test/')).content, page('www.allowed.test'));
  assert.equal(await command('http://www.allowed.test/'), `200\n${page('www.allowed.test')}`);
  await allow('other.test');
  assert.equal(await command('http://other.test/'), `200\n${page('other.test')}`, 'it was there all the time');
  assert.equal((await read('http://www.allowed.test/')).isError, true);
  assert.deepEqual(asked, ['www.allowed.test/', 'www.allowed.test/', 'www.allowed.test/', 'other.test/']);
});

test('without a list commands have no network at all, and fetch reads every public site', async () => {
  await allow();
  for (const site of ['allowed.test', 'other.test'] as const) assert.match(await command(`http://${site}/`), /^no way/);
  assert.deepEqual(asked, []);
  assert.equal((await read('http://other.test/')).content, page('other.test'));
});
