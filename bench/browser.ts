import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHeld, createSandbox, createSqliteStore, createToolkit } from '@troupe/agent';
import { newDefinition } from '@troupe/domain';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';

/**
 * A browser from nothing to its first answer, and to a page that can be used; and what all its processes take then (their
 * share of what is shared; the sandbox and the way out included). The page is on this machine: the network is not ours.
 */

const ROUNDS = 7;
const PAGE = `<!doctype html><title>Shop</title><h1>Orders</h1>${'<p>A paragraph with <a href="/x">a link</a>.</p>'.repeat(100)}
  <form><label>Name <input></label><button>Send</button></form>`;

const server = http.createServer((_, response) => response.setHeader('content-type', 'text/html').end(PAGE));
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const folder = await mkdtemp(path.join(tmpdir(), 'bench-browser-'));
const pool = createWorkerPool();
const outbound = createOutbound();
const store = createSqliteStore({ file: ':memory:', agentId: 'bench' });
const toolkit = createToolkit({
  store,
  pool,
  outbound,
  owner: 'bench',
  log: silentLog,
  sandbox: createSandbox(),
  workspaceRoot: folder,
  egress: { rules: { allowLoopback: true }, ports: [port] },
});
const definition = newDefinition({ name: 'bench', tools: ['browser'] });
const tools = await toolkit.tools(definition);

const GONE = new Set(['ENOENT', 'ESRCH']);
function unlessGone(error: unknown): '' {
  if (GONE.has((error as NodeJS.ErrnoException).code ?? '')) return '';
  throw error;
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = (await readdir(`/proc/${pid}/task`).catch(unlessGone)) || [];
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(unlessGone)),
  );
  return lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
}

/** One that ends while it is looked at weighs nothing. */
async function weight(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(unlessGone);
  const own = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
  return (await Promise.all((await childrenOf(pid)).map(weight))).reduce((sum, one) => sum + one, own);
}

async function round() {
  const held = createHeld();
  const use = async (name: string, args: object): Promise<string> => {
    const { content, isError } = await tools
      .find((tool) => tool.name === name)!
      .run(args, {
        agentId: 'bench',
        sessionId: 's',
        callId: 'c',
        definition,
        signal: new AbortController().signal,
        remaining: definition.limits,
        held,
      });
    if (isError) throw new Error(content);
    return content;
  };
  const started = performance.now();
  await use('browser_tabs', {});
  const ready = performance.now() - started;
  const page = await use('browser_open', { url: `http://localhost:${port}/` });
  const shown = performance.now() - started;
  if (!page.includes('button "Send"')) throw new Error(`the page was not shown: ${page.slice(0, 200)}`);
  const memory = (await Promise.all((await childrenOf(process.pid)).map(weight))).reduce((sum, one) => sum + one, 0);
  await held.drop();
  return { ready, shown, memory };
}

// The first one reads the program from the disk.
await round();
const rounds: Awaited<ReturnType<typeof round>>[] = [];
for (let count = 0; count < ROUNDS; count++) rounds.push(await round());
await toolkit.close();
await pool.close();
await outbound.close();
store.close();
server.close();
await rm(folder, { recursive: true, force: true });

printTable(
  'A browser',
  rounds.map(({ ready, shown, memory }) => ({ 'ready ms': ready, 'page shown ms': shown, 'memory MB': memory })),
);
finish(
  'browser',
  [
    { figure: 'ready_ms', value: median(rounds.map(({ ready }) => ready)), atMost: 1500 },
    { figure: 'memory_mb', value: Math.max(...rounds.map(({ memory }) => memory)), atMost: 250 },
  ],
  { page_shown_ms: median(rounds.map(({ shown }) => shown)) },
);
