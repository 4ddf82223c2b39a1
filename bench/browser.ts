import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createBrowser, createSandbox, makeWorkspace } from '@troupe/agent';
import { createWorkerPool } from '@troupe/kernel';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';

/**
 * A browser from nothing to a page that can be used, and what all its processes take then (their share of what is shared,
 * the sandbox and the way out included). The page is on this machine: how fast the network is, is not ours.
 */

const ROUNDS = 7;
const PAGE = `<!doctype html><title>Shop</title><h1>Orders</h1>${'<p>A paragraph with <a href="/x">a link</a>.</p>'.repeat(100)}
  <form><label>Name <input></label><button>Send</button></form>`;

const server = http.createServer((_, response) => response.setHeader('content-type', 'text/html').end(PAGE));
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const folder = await mkdtemp(path.join(tmpdir(), 'bench-browser-'));
const pool = createWorkerPool();
const workspace = await makeWorkspace(folder, { pool, owner: 'bench' });
const sandbox = createSandbox();

async function weight(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const own = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
  const below = lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
  return (await Promise.all(below.map(weight))).reduce((sum, one) => sum + one, own);
}

const ready: number[] = [];
const shown: number[] = [];
const memory: number[] = [];
const egress = { rules: { allowLoopback: true }, ports: [port] };
for (let round = 0; round < ROUNDS; round++) {
  const started = performance.now();
  const browser = await createBrowser({ sandbox, pool, owner: 'bench', egress, workspace: async () => workspace });
  ready.push(performance.now() - started);
  const page = await browser.open(`http://localhost:${port}/`);
  shown.push(performance.now() - started);
  if (!page.includes('button "Send"')) throw new Error(`the page was not shown: ${page.slice(0, 200)}`);
  memory.push(await weight(browser.pid ?? 0));
  await browser.close();
}
await pool.close();
server.close();
await rm(folder, { recursive: true, force: true });

printTable([
  ['ready', `${median(ready).toFixed(0)} ms`],
  ['page shown', `${median(shown).toFixed(0)} ms`],
  ['memory of all its processes', `${Math.max(...memory).toFixed(0)} MB`],
]);
finish([
  ['ready in under 1.5 s', median(ready) < 1500],
  ['at most 250 MB', Math.max(...memory) <= 250],
]);
