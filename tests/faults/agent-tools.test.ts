import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { SECRETS, startBackendProcess, type BackendProcess } from '@troupe/testing/processes/backend';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { needs } from '@troupe/testing/machine/needs';

/** A model that has turned against its host, at the tools of an agent in a real backend. */

const MB = 1024 * 1024;
let database: TestDatabase;
let director: Director;
let dataDir: string;
let backend: BackendProcess;

before(async () => {
  database = await testDatabase();
  director = await createDirector();
  dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-tools-'));
  backend = await startBackendProcess({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    OPENROUTER_BASE_URL: director.provider.url,
  });
  await backend.ask('POST', '/api/deployments', { agentId: 'tools', config: { name: 'tools', plan: 'solo' } });
});
after(async () => {
  assert.equal((await backend.end('SIGTERM')).code, 0);
  await director.provider.close();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

let conversations = 0;
/** The result of one call, as the model gets it. */
async function use(tool: string, args: object): Promise<{ content: string; isError: boolean }> {
  const session = `c${(conversations += 1)}`;
  const response = await backend.chat('tools', steps({ tool, args }, { say: 'done' }), session);
  assert.equal(response.status, 200, await response.clone().text());
  return (await backend.log('tools', session))!.events.find(({ type }) => type === 'tool_result');
}
const shell = (cmd: string, timeout = 20) => use('shell', { cmd, timeout });
const workspace = () => path.join(dataDir, 'workspaces/tools');

const memory = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${backend.child.pid}/status`, 'utf8'))?.[1]) * 1024;
const processes = (mark: string): string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(mark) && !line.includes('ps -eo'));

describe('the shell', { skip: needs('bubblewrap') }, () => {
  test('that prints 1 GB costs the platform nothing and tells the end of it', { timeout: 60_000 }, async () => {
    await shell('true');
    const before = memory();
    const { content } = await shell(`head -c ${1024 * MB} /dev/zero | tr '\\0' x; echo END`, 50);
    assert.ok(content.length < MB, `${content.length} characters`);
    assert.ok(memory() - before < 100 * MB, `${(memory() - before) / MB} MB more`);
  });

  test('that forks without end is bounded, and the platform answers meanwhile', { timeout: 60_000 }, async () => {
    const bomb = shell('mark_bomb() { sleep 71234 & mark_bomb & mark_bomb; }; mark_bomb; wait', 5);
    const started = Date.now();
    assert.equal((await backend.send('GET', '/api/runtime/proxy/tools/health')).status, 200);
    assert.ok(Date.now() - started < 5_000);
    await bomb;
    assert.deepEqual(processes('71234'), []);
  });

  test('that sleeps for ever is ended with all that it started', { timeout: 60_000 }, async () => {
    const { content, isError } = await shell('(sleep 72345 &) ; setsid sleep 72345 & sleep 72345', 2);
    assert.equal(isError, true);
    assert.match(content, /2 s/);
    assert.deepEqual(processes('72345'), []);
  });

  test('that fills the workspace is ended', { timeout: 90_000 }, async () => {
    const { isError, content } = await shell(
      'i=0; while true; do head -c 52428800 /dev/zero > f$i || exit 9; i=$((i+1)); done',
      80,
    );
    assert.equal(isError, true);
    assert.match(content, /full|space|quota|large/i);
    await shell('rm -f f*');
    assert.equal((await use('write_file', { path: 'after.txt', content: 'x' })).isError, false);
  });

  test('sees no secret of the platform, and no network', { timeout: 60_000 }, async () => {
    const { content } = await shell(
      'env; set; cat /proc/self/environ /proc/1/environ /proc/*/environ 2>/dev/null; cat /proc/*/cmdline 2>/dev/null; ls -la / /root /home /srv 2>&1',
    );
    for (const [name, value] of Object.entries(SECRETS)) {
      assert.ok(!content.includes(value), name);
      assert.ok(!content.includes(name), name);
    }
    assert.ok(!content.includes(database.url));
    const { port } = new URL(backend.address);
    const network = await shell(
      `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>&1 && echo REACHED; bash -c 'exec 3<>/dev/tcp/1.1.1.1/80' 2>&1 && echo REACHED; getent hosts example.com || echo none`,
    );
    assert.doesNotMatch(network.content, /REACHED/);
    assert.match(network.content, /none/);
  });
});

test('the shell reaches the allowed domains and no others', { skip: needs('bubblewrap') }, async () => {
  const allow = async (allowedDomains: string[]) => {
    const changed = await backend.send('PUT', '/api/agents/tools', { config: { safety: { allowedDomains } } });
    assert.equal(changed.status, 200);
  };
  const get = async (host: string) =>
    (
      await shell(
        `node -e "require('http').get('http://${host}/',r=>{console.log(r.statusCode);r.pipe(process.stdout)}).on('error',e=>console.log('no way', e.code))"`,
      )
    ).content;
  await allow(['localhost']);
  // Let through by the list, held back by where it leads; allowed-domains.test.ts goes all the way.
  assert.match(await get('localhost'), /^403\nlocalhost leads to an address that is not allowed/);
  for (const other of ['example.com', 'notlocalhost', '127.0.0.1'])
    assert.equal(await get(other), `403\n${other}:80 is not allowed\n`);
  const { port } = new URL(backend.address);
  const direct = await shell(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>&1 && echo REACHED; true`);
  assert.doesNotMatch(direct.content, /REACHED/);
  await allow([]);
  for (const host of ['localhost', 'example.com']) assert.match(await get(host), /^no way/);
});

test('files outside the workspace cannot be read, written, moved or deleted', async () => {
  const outside = path.join(dataDir, 'outside');
  mkdirSync(outside, { recursive: true });
  mkdirSync(workspace(), { recursive: true });
  writeFileSync(path.join(outside, 'secret.txt'), 'SECRET');
  symlinkSync(path.join(outside, 'secret.txt'), path.join(workspace(), 'link.txt'));
  symlinkSync('../../outside', path.join(workspace(), 'folder'));
  const ways = [
    '../../outside/secret.txt',
    path.join(outside, 'secret.txt'),
    'link.txt',
    'folder/secret.txt',
    '/proc/self/environ',
  ];
  for (const way of ways) {
    const results = [
      await use('read_file', { path: way }),
      await use('write_file', { path: way, content: 'overwritten' }),
      await use('edit_file', { path: way, edits: [{ oldText: 'SECRET', newText: 'x' }] }),
      await use('move_file', { source: way, destination: 'stolen.txt' }),
    ];
    const told = JSON.stringify(results);
    assert.ok(!told.includes('SECRET'), `${way}: ${told}`);
    assert.ok(!told.includes(SECRETS.INTERNAL_API_KEY), way);
    await use('delete_file', { path: way });
    assert.equal(readFileSync(path.join(outside, 'secret.txt'), 'utf8'), 'SECRET', way);
  }
});

test('what the model is sent holds no secret, and pages inside the house are not fetched', async () => {
  const { content, isError } = await use('fetch', { url: `${backend.address}/api/runtime/instances` });
  assert.equal(isError, true);
  assert.doesNotMatch(content, /instances/);
  assert.equal((await use('fetch', { url: 'http://169.254.169.254/latest/meta-data' })).isError, true);
  assert.ok(director.provider.requests.length > 0);
  const prompts = JSON.stringify(director.provider.requests.map(({ body }) => body));
  for (const [name, value] of Object.entries(SECRETS)) assert.ok(!prompts.includes(value), name);
  assert.ok(!prompts.includes(database.url));
});
