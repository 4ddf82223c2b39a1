import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkerPool } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { createSandbox, DEFAULT_LIMITS } from '../sandbox/sandbox.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import { shellTools } from './shell.ts';
import { call } from './testing.ts';

const MB = 1024 * 1024;
const root = await mkdtemp(path.join(tmpdir(), 'agent-shell-'));
const sandbox = createSandbox({ limits: { ...DEFAULT_LIMITS, memoryMb: 200, processes: 40 } });
const pool = createWorkerPool();
after(() => pool.close());
const workspace = createWorkspace(root, { pool, owner: 'user', quotaBytes: 50 * MB });
const tools = shellTools(workspace, sandbox, { egress: { rules: { allowLoopback: true }, ports: [] } });
const sh = (cmd: string, timeout = 20, context = {}) => call(tools, 'shell', { cmd, timeout }, context);
after(() => rm(root, { recursive: true, force: true }));

/** Processes on this machine whose command line has the mark. */
const alive = (mark: string): string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(mark) && !line.includes('ps -eo'));

describe('the shell', { skip: await sandbox.unavailable() }, () => {
  test('works in the workspace', async () => {
    const result = await sh('echo hello > a.txt && cat a.txt && pwd && id -u');
    assert.deepEqual(result, { content: 'hello\n/workspace\n1000\n' });
    assert.equal(await readFile(path.join(root, 'a.txt'), 'utf8'), 'hello\n');
    assert.deepEqual(await sh('exit 3'), { content: '\n[exit code 3]', isError: true });
  });

  test('what it complains about stands where it was said, in the middle of a line, too', async () => {
    const { content } = await sh('for n in 1 2 3 4 5; do printf "a$n" >&2; printf "b$n"; printf ". " >&2; done');
    assert.equal(content, 'a1b1. a2b2. a3b3. a4b4. a5b5. ');
  });

  test('sees nothing of the host: no environment, accounts, processes, files or network', async () => {
    process.env['PLATFORM_SECRET'] = 'do-not-show';
    const { content } = await sh(
      'env; ls -a / /etc /root /home /srv 2>&1; cat /etc/shadow /etc/passwd 2>&1; cat /proc/1/environ; ps ax 2>/dev/null | wc -l',
    );
    assert.ok(!content.includes('do-not-show'));
    assert.doesNotMatch(content, /root:/);
    const network = await sh(
      'cat < /dev/tcp/1.1.1.1/80 2>&1; getent hosts example.com || echo no names; ls /sys/class/net 2>&1; cat /proc/net/dev | tail -n +3 | cut -d: -f1',
    );
    assert.match(network.content, /no names/);
    assert.match(network.content.trim(), /lo$/);
  });

  test('cannot write outside, gain rights or make namespaces', async () => {
    const { content } = await sh(
      'touch /usr/x 2>&1; touch /etc/x 2>&1; mount -t tmpfs x /mnt 2>&1; unshare -r id 2>&1; mknod d c 1 3 2>&1; chroot / id 2>&1',
    );
    assert.doesNotMatch(content, /uid=0/);
    assert.match(content, /Read-only file system/);
  });

  test('a command that prints without end costs no memory', async () => {
    global.gc?.();
    const before = process.memoryUsage().rss;
    const result = await sh('yes 0123456789012345678901234567890123456789 | head -c 1000000000; echo END', 30);
    assert.equal(result.isError, true);
    assert.match(result.content, /stopped: its output passed 64 MB/);
    assert.ok(result.content.length < 40_000);
    assert.ok(process.memoryUsage().rss - before < 150 * MB);
  });

  test('long output keeps its beginning and its end', async () => {
    const { content } = await sh('echo START; yes | head -c 200000; echo END');
    assert.match(content, /^START/);
    assert.match(content, /bytes left out/);
    assert.match(content, /END\n$/);
  });

  test('a fork bomb is bounded while it lasts and ends with the command', async () => {
    let most = 0;
    const counting = setInterval(() => (most = Math.max(most, alive('forkbomb7').length)), 100);
    await sh('bomb() { bomb forkbomb7 & bomb forkbomb7; }; bomb; sleep 3 # forkbomb7', 5);
    clearInterval(counting);
    assert.ok(most <= 60, `${most} processes at once`);
    assert.deepEqual(alive('forkbomb7'), []);
  });

  test('more processes than are allowed are refused, and the command hears of it', async () => {
    const { content, isError } = await sh('for i in $(seq 100); do sleep 2 & done; wait; echo END', 10);
    assert.ok(isError);
    assert.match(content, /fork|started more than 40 processes/);
  });

  test('a command that sleeps for ever is ended with all that it started', async () => {
    const started = Date.now();
    const result = await sh('(setsid sleep 4242 &) ; nohup sleep 4242 & sleep 4242', 1);
    assert.match(result.content, /stopped: it took longer than 1 s/);
    assert.ok(Date.now() - started < 5000);
    assert.deepEqual(alive('sleep 4242'), []);
    await sh('setsid sleep 4343 > /dev/null 2>&1 &');
    for (let tries = 0; alive('sleep 4343').length > 0 && tries < 1500; tries++) await delay(20);
    assert.deepEqual(alive('sleep 4343'), [], 'what stays in the background ends too');
  });

  test('cancelling ends it', async () => {
    const abort = new AbortController();
    const running = sh('sleep 4444', 60, { signal: abort.signal });
    setTimeout(() => abort.abort(), 300);
    await assert.rejects(running);
    assert.deepEqual(alive('sleep 4444'), []);
  });

  test('memory is bounded, of one process and of many', async () => {
    const one = await sh('node -e "const a=[];for(;;)a.push(Buffer.alloc(20e6,1))"');
    assert.ok(one.isError);
    assert.match(one.content, /stopped: it used more than 200 MB|failed to allocate memory|out of memory/i);
    const many = await sh(
      'for i in 1 2 3 4 5 6; do (head -c 90000000 /dev/zero | tail -c 90000000 | (sleep 5; wc -c)) & done; wait',
    );
    assert.match(many.content, /stopped: it used more than 200 MB/);
  });

  test('a workspace that fills ends the command', async () => {
    const result = await sh('for i in 1 2 3 4 5 6 7 8 9; do head -c 10000000 /dev/urandom > f$i; sleep 0.3; done', 30);
    assert.match(result.content, /workspace is full \(50 MB\)/);
    const more = await sh('echo x > more; touch empty; cat more; ls f1');
    assert.equal(more.isError, true);
    assert.match(more.content, /too large|Now the workspace is full/i);
    assert.equal((await sh('rm -f f* more empty && ls')).isError, undefined, 'removing is still possible');
    assert.deepEqual(await sh('echo x > more && cat more'), { content: 'x\n' });
    await Promise.all((await readdir(root)).map((name) => rm(path.join(root, name), { recursive: true })));
  });

  test('allowed domains are reached through the proxy, and nothing else is', async () => {
    const server = http.createServer((_, response) => response.end('from the allowed domain')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const open = shellTools(workspace, sandbox, { egress: { rules: { allowLoopback: true }, ports: [port] } });
    const guarded = shellTools(workspace, sandbox, { egress: { ports: [port] } });
    const config = {
      ...newDefinition({ name: 'x' }).config,
      safety: { maxTokensPerDay: 1, allowedDomains: ['localhost'] },
    };
    const get = (host: string) =>
      `node -e "fetch('http://${host}:${port}/').then(async r=>console.log(r.status, await r.text()),e=>console.log(e.cause.message))"`;
    const plain = (host: string) =>
      `node -e "require('http').get('http://${host}:${port}/',r=>{console.log(r.statusCode);r.pipe(process.stdout)})"`;
    const context = { definition: { config } };
    const allowed = await call(open, 'shell', { cmd: get('localhost') }, context);
    assert.equal(allowed.content.trim(), '200 from the allowed domain');
    const other = await call(open, 'shell', { cmd: get('example.com') }, context);
    assert.doesNotMatch(other.content, /^200/);
    const forwarded = await call(open, 'shell', { cmd: plain('localhost') }, context);
    assert.match(forwarded.content, /^200\nfrom the allowed domain/);
    const refused = await call(open, 'shell', { cmd: plain('example.com') }, context);
    assert.match(refused.content, /^403\nexample.com:\d+ is not allowed/);
    const direct = await call(open, 'shell', { cmd: get('127.0.0.1') }, context);
    assert.doesNotMatch(direct.content, /^200/);
    const inward = await call(guarded, 'shell', { cmd: plain('localhost') }, context);
    assert.match(inward.content, /^403\nlocalhost leads to an address that is not allowed/);
  });
});

test('without a sandbox the shell says that it is off', async () => {
  const none = shellTools(workspace, createSandbox({ bwrap: '/nowhere/bwrap' }));
  const result = await call(none, 'shell', { cmd: 'echo hi' });
  assert.deepEqual(result, {
    content: 'The shell is off: there is no sandbox to run commands in (bubblewrap is not installed).',
    isError: true,
  });
});
