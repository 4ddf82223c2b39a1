import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { runChild, startService } from './lib/child.ts';
import { finish, printTable, type Row } from './lib/report.ts';
import { sideBySide } from './lib/sides.ts';
import { hostilePages, ordinaryPage } from './summarizer/pages.ts';
import { ours, withCheerio, type Side } from './summarizer/sides.ts';

const SIZES = { '5 KB': 5_000, '100 KB': 100_000, '2 MB': 2_000_000 };

/** Pages a second, side by side. Both sides must say the same of a page before they are timed. */
async function speed(): Promise<number[]> {
  const cheerio = await withCheerio(false);
  const slim = await withCheerio(true);
  const rows: Row[] = [];
  const ratios: number[] = [];
  for (const [size, bytes] of Object.entries(SIZES)) {
    const page = Buffer.from(ordinaryPage(bytes));
    for (const work of ['summarize', 'extract'] as const satisfies (keyof Side)[]) {
      assert.deepEqual(await ours[work](page), await cheerio[work](page), `${work} of ${size}`);
      const rate = await sideBySide({
        ours: () => ours[work](page),
        cheerio: () => cheerio[work](page),
        slim: () => slim[work](page),
      });
      const ratio = rate.ours / rate.cheerio;
      ratios.push(ratio);
      rows.push({
        page: `${work} ${size}`,
        'ours/s': rate.ours,
        'cheerio/s': rate.cheerio,
        'cheerio slim/s': rate.slim,
        ratio,
        'ratio to slim': rate.ours / rate.slim,
        'ours MB/s': (rate.ours * page.length) / 1e6,
      });
    }
  }
  printTable('Pages a second', rows);
  return ratios;
}

/** Peak memory of one process for each side. */
async function memory(): Promise<{ ratio: number; ours: number; cheerio: number }> {
  const rows: { page: string; 'ours MB': number; 'cheerio MB': number; ratio: number }[] = [];
  const child = new URL('./summarizer/memory.ts', import.meta.url);
  for (const [size, bytes] of Object.entries(SIZES)) {
    const own = await runChild<number>(child, ['ours', String(bytes)]);
    const other = await runChild<number>(child, ['cheerio', String(bytes)]);
    rows.push({ page: size, 'ours MB': own, 'cheerio MB': other, ratio: own / other });
  }
  printTable('Peak memory of a process', rows);
  const largest = rows.at(-1);
  return {
    ratio: Math.max(...rows.map(({ ratio }) => ratio)),
    ours: largest?.['ours MB'] ?? 0,
    cheerio: largest?.['cheerio MB'] ?? 0,
  };
}

/** Hostile pages through the real service, while another client keeps asking for something small. */
async function hostile(): Promise<{ slowest: number; heldUp: number; heldUpByAll: number; growth: number }> {
  const names = Object.keys(hostilePages);
  const site = createServer((request, reply) => {
    reply.writeHead(200, { 'content-type': 'text/html' }).end(hostilePages[names[Number(request.url?.slice(1))] ?? '']);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const service = await startService(new URL('../apps/summarizer/src/main.ts', import.meta.url), {
    SUMMARIZER_PORT: '0',
  });
  const ask = async (path: string, index: number) => {
    const started = performance.now();
    const answer = await fetch(service.address + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${base}/${index}` }),
    });
    assert.equal(answer.status, 200, await answer.text());
    return performance.now() - started;
  };
  const watch = startWatch(`${service.address}/health`);
  const together = async (path: string) => void (await Promise.all(names.map((_, index) => ask(path, index))));
  // The heap takes some rounds to find its size; what grows after that is lost.
  for (let round = 0; round < 5; round += 1) await together('/api/summarize');
  await together('/api/extract');
  const before = service.memory();
  watch.reset();
  await sleep(1_000);
  // What the machine itself does to a small request, with nothing else going on.
  const rows: Row[] = [{ page: '(none)', 'summarize ms': 0, 'extract ms': 0, 'other request ms': watch.reset() }];
  for (const [index, name] of names.entries()) {
    const summarize = await ask('/api/summarize', index);
    const extract = await ask('/api/extract', index);
    rows.push({ page: name, 'summarize ms': summarize, 'extract ms': extract, 'other request ms': watch.reset() });
  }
  printTable('Hostile pages of 1 MB, through the service', rows);
  const one = Math.max(...rows.map((row) => Number(row['other request ms'])));
  const most = (column: string) => Math.max(...rows.map((row) => Number(row[column])));
  for (let round = 0; round < 3; round += 1) await together('/api/summarize');
  const growth = service.memory() - before;
  const heldUpByAll = watch.reset();
  await watch.stop();
  await service.stop();
  site.closeAllConnections();
  site.close();
  return { slowest: Math.max(most('summarize ms'), most('extract ms')), heldUp: one, heldUpByAll, growth };
}

/** Asks for something small all the time and remembers the slowest answer. */
function startWatch(url: string) {
  let slowest = 0;
  const stopped = new AbortController();
  const asking = (async () => {
    while (!stopped.signal.aborted) {
      const started = performance.now();
      await (await fetch(url)).arrayBuffer();
      slowest = Math.max(slowest, performance.now() - started);
    }
  })();
  return {
    reset() {
      const found = slowest;
      slowest = 0;
      return found;
    },
    async stop() {
      stopped.abort();
      await asking;
    },
  };
}

const ratios = await speed();
const peak = await memory();
const worst = await hostile();
finish(
  'summarizer',
  [
    { figure: 'min_ratio_to_cheerio', value: Math.min(...ratios), atLeast: 6 },
    { figure: 'max_peak_memory_ratio', value: peak.ratio, atMost: 1 },
    { figure: 'hostile_max_ms', value: worst.slowest, atMost: 1000 },
    { figure: 'other_request_max_ms', value: worst.heldUp, atMost: 250 },
    { figure: 'other_request_max_ms_31_at_once', value: worst.heldUpByAll, atMost: 1000 },
  ],
  { peak_mb_2mb: peak.ours, peak_mb_2mb_cheerio: peak.cheerio, memory_growth_mb: worst.growth },
);
