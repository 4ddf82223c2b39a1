import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { needs } from '@troupe/testing/machine/needs';
import { launch, findChromium } from '../browser/launch.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createStage, html, refOf } from './browser-testing.ts';

const asked: string[] = [];
/** What a page must not reach: something of the platform on another port of this machine. */
const inside = http.createServer((request, response) => {
  asked.push(request.url ?? '');
  response.setHeader('access-control-allow-origin', '*').end('the platform’s own secret');
});
await new Promise<void>((resolve) => void inside.listen(0, '127.0.0.1', resolve));
after(() => inside.close());
const own = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`;

const to =
  (location: string): http.RequestListener =>
  (_, response) =>
    response.writeHead(302, { location }).end();

const MB = 1024 * 1024;
const stage = await createStage(
  {
    '/': html('<h1>Fine</h1>'),
    '/to-metadata': to('http://169.254.169.254/latest/meta-data/'),
    '/to-own': to(`${own}/redirected`),
    '/to-six': to('http://[::1]/'),
    '/to-file': to('file:///etc/hosts'),
    '/reads': html(`<p id=out>-</p><script>
      const out = document.getElementById('out');
      const from = ['file:///etc/hosts', '${own}/fetched', 'http://169.254.169.254/', 'http://[::1]/', 'http://10.0.0.1/'];
      Promise.all(from.map((url) => fetch(url).then((r) => r.text().then((t) => r.status + ' ' + t), () => 'refused')))
        .then((all) => { out.textContent = 'read: ' + all.join(' | '); });
      const frame = document.createElement('iframe'); frame.src = '${own}/framed'; document.body.append(frame);
      new WebSocket('${own.replace('http', 'ws')}/socket');
    </script><a href="file:///etc/hosts">hosts</a>`),
    '/huge-file': (_, response) => {
      response.writeHead(200, { 'content-disposition': 'attachment; filename=huge', 'content-length': 2048 * MB });
      response.write(Buffer.alloc(MB));
    },
    '/endless-file': (_, response) => {
      response.writeHead(200, { 'content-disposition': 'attachment; filename=endless' });
      const chunk = Buffer.alloc(MB);
      const more = (): void => void (response.write(chunk) ? setImmediate(more) : response.once('drain', more));
      response.on('error', () => undefined);
      more();
    },
    '/alerts': html('<script>for (;;) alert("again")</script>'),
    '/silent': () => undefined,
    '/endless': (_, response) => {
      response.setHeader('content-type', 'text/html').write('<h1>Begins</h1>'.padEnd(2000));
    },
    '/spins': html('<script>setTimeout(() => { for (;;); }, 50)</script><p>Spins</p>'),
    '/large': html('<div>word</div>'.repeat(40_000)),
    '/popups': html('<button onclick="for (let i = 0; i < 30; i++) open(\'/?\' + i)">Open</button>'),
    '/deep': html(`${'<div>'.repeat(5000)}<button>Down here</button>`),
  },
  { patience: { openMs: 3000, loadMs: 2000, answerMs: 6000 } },
);
after(() => stage.close());
const { use, url } = stage;

const isFine = async (): Promise<void> => assert.match((await use('browser_open', { url })).content, /Fine/);

describe('a hostile page', { skip: needs('chromium', 'bubblewrap'), timeout: 240_000 }, () => {
  test('is not opened where the agent may not go', async () => {
    for (const [target, why] of [
      ['file:///etc/passwd', /Only http and https/],
      ['chrome://version', /Only http and https/],
      ['javascript:alert(1)', /Only http and https/],
      ['not an address', /Only http and https/],
      ['http://ada:secret@localhost/', /name or password/],
      [own, /is not allowed/],
      ['http://169.254.169.254/latest/meta-data/', /is not allowed/],
      ['http://[::1]/', /is not allowed/],
      ['https://10.0.0.1/', /cannot be reached from here/],
      [`${url}/to-metadata`, /is not allowed/],
      [`${url}/to-own`, /is not allowed/],
      [`${url}/to-six`, /is not allowed/],
      [`${url}/to-file`, /could not be opened/],
    ] as const)
      assert.match((await use('browser_open', { url: target })).content, why, target);
    assert.deepEqual(asked, []);
  });

  test('reads no file, no port of the machine, and no address of a cloud', async () => {
    await use('browser_open', { url: `${url}/reads` });
    const page = await use('browser_wait', { text: 'read: ', seconds: 25 });
    assert.doesNotMatch(page.content, /secret|ami-id/);
    assert.match(page.content, /read: refused/);
    await use('browser_click', { ref: refOf(page, /link "hosts"/) });
    assert.doesNotMatch((await use('browser_snapshot')).content, /127\.0\.0\.1\s+localhost/);
    assert.deepEqual(asked, [], 'nothing was asked of the platform');
  });

  test('the owner’s domains hold for it, and a change of them counts at once', async () => {
    await isFine();
    const config = (allowedDomains: string[]) => ({
      definition: { config: { safety: { maxTokensPerDay: 1, allowedDomains, approvals: {} } } },
    });
    const other = await use('browser_open', { url }, config(['example.com']));
    assert.match(other.content, /The owner does not allow localhost/);
    assert.match((await use('browser_snapshot', {}, config(['example.com']))).content, /about:blank/);
    assert.match((await use('browser_open', { url }, config(['localhost']))).content, /Fine/);
    await stage.nextRun();
  });

  test('the browser itself sees no workspace: not this agent’s, not another’s', async () => {
    const browser = await launch({
      sandbox: createSandbox(),
      program: findChromium() ?? '',
      allowedDomains: [],
      onEvent: () => undefined,
    });
    const { targetInfos } = await browser.cdp.send<{ targetInfos: { targetId: string; type: string }[] }>(
      'Target.getTargets',
    );
    const { targetId } = targetInfos.find(({ type }) => type === 'page') ?? {};
    const { sessionId } = await browser.cdp.send<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const at = async (file: string): Promise<string | undefined> =>
      (await browser.cdp.send<{ errorText?: string }>('Page.navigate', { url: `file://${file}` }, { sessionId }))
        .errorText;
    assert.match((await at(`${stage.root}/`)) ?? '', /ERR_FILE_NOT_FOUND|ERR_ACCESS_DENIED/);
    assert.match((await at('/etc/passwd')) ?? '', /ERR_FILE_NOT_FOUND|ERR_ACCESS_DENIED/);
    assert.match((await at('/root/')) ?? '', /ERR_FILE_NOT_FOUND|ERR_ACCESS_DENIED/);
    assert.deepEqual(await readdir(browser.folder), [], 'the only folder of ours that it has is empty');
    browser.stop('seen enough');
    await browser.ended;
    assert.equal(existsSync(browser.folder), false);
  });

  test('a download that is too large is given up, announced or not', async () => {
    const huge = await use('browser_open', { url: `${url}/huge-file` });
    assert.match(huge.content, /The download of huge was given up: it has more than 100 MB/);
    const endless = await use('browser_open', { url: `${url}/endless-file` });
    assert.match(endless.content, /The download of endless was given up: it has more than 100 MB/);
    assert.equal(existsSync(path.join(stage.root, 'downloads')), false);
    await isFine();
  });

  test('dialogs without end close the page', async () => {
    const loop = await use('browser_open', { url: `${url}/alerts` });
    assert.match(loop.content, /one dialog after another|did not answer/);
    await isFine();
  });

  test('a page that never answers, never ends, or never stops computing', async () => {
    assert.match((await use('browser_open', { url: `${url}/silent` })).content, /it did not answer in 3 s/);
    const endless = await use('browser_open', { url: `${url}/endless` });
    assert.match(endless.content, /still loading after 2 s[\s\S]*Begins/);
    await use('browser_open', { url: `${url}/spins` });
    const said = await use('browser_snapshot');
    assert.match(said.content, /The browser was ended: the page did not answer|about:blank/);
    await isFine();
  });

  test('a page that is too large is shown in words, a deep one as it is', async () => {
    const large = await use('browser_open', { url: `${url}/large` });
    assert.match(large.content, /too large for a snapshot \(\d{5} elements\)\. Its text begins:\nword/);
    assert.ok(large.content.length < 20_000);
    assert.match((await use('browser_open', { url: `${url}/deep` })).content, /Page: T/);
  });

  test('pop-ups are bounded', async () => {
    const page = await use('browser_open', { url: `${url}/popups` });
    await use('browser_click', { ref: refOf(page, /button "Open"/) });
    const { content } = await use('browser_tabs');
    assert.ok(content.split('\n').length <= 5, content);
    await stage.nextRun();
  });

  test('a browser that dies is told, and the next one works', async () => {
    await isFine();
    const pid = await browserPid();
    process.kill(pid, 'SIGKILL');
    // It may still answer while it goes.
    let said = await use('browser_snapshot');
    while (said.content.includes('Fine')) said = await use('browser_snapshot');
    assert.match(said.content, /The browser was ended: it ended by itself|about:blank/);
    await isFine();
  });

  test('a killed platform leaves no browser', async () => {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, '../fixtures/browser-child.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const pid = Number(/open (\d+)/.exec(line.toString())?.[1]);
    const all = [pid, ...(await below(pid))];
    assert.ok(all.length >= 4, 'bubblewrap twice, the way out, the browser');
    child.kill('SIGKILL');
    await once(child, 'exit');
    while (all.some((one) => isAlive(one))) await delay(50);
    assert.ok((await readdir(tmpdir())).some((name) => name.startsWith(`troupe-browser-${child.pid}-`)));
    await stage.nextRun();
    await isFine();
    assert.ok(!(await readdir(tmpdir())).some((name) => name.startsWith(`troupe-browser-${child.pid}-`)), 'swept');
  });
});

/** One that has ended and nobody has asked for is not alive. */
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

async function below(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
  const children = lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
  return [...children, ...(await Promise.all(children.map(below))).flat()];
}

/** The process that this test has started last for a browser. */
async function browserPid(): Promise<number> {
  for (const pid of await below(process.pid)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes('/run/egress.sock') && !line.includes('bwrap')) return pid;
  }
  throw new Error('no browser is open');
}
