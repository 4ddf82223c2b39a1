import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { needs } from '@troupe/testing/machine/needs';
import { createSandbox } from './sandbox/sandbox.ts';
import { createSqliteStore } from './store/store-sqlite.ts';
import { testAgent, web, type Script } from './testing.ts';
import { createToolkit } from './tools/toolkit.ts';

/** A browser and jobs as a run has them: through the loop, from the first call to its end. */

const server = http.createServer((_, response) =>
  response.setHeader('content-type', 'text/html').end('<title>Shop</title><h1>Orders</h1>'),
);
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const folder = await mkdtemp(path.join(tmpdir(), 'agent-browser-run-'));
const pool = createWorkerPool();
const outbound = createOutbound();
after(async () => {
  server.closeAllConnections();
  server.close();
  await pool.close();
  await outbound.close();
  await rm(folder, { recursive: true, force: true });
});

let count = 0;
async function agentWith(script: Script, approvals: Record<string, 'ask'> = {}) {
  const store = createSqliteStore({ file: ':memory:', agentId: 'agent' });
  const toolkit = createToolkit({
    store,
    workspaceRoot: path.join(folder, String(count++)),
    sandbox: createSandbox(),
    outbound,
    log: silentLog,
    pool,
    owner: 'user',
    egress: { rules: { allowLoopback: true }, ports: [port] },
  });
  const definition = { tools: ['browser' as const, 'background_jobs' as const], approvals };
  const given = { store, script, definition, tools: toolkit.tools, workspace: toolkit.workspace };
  return testAgent({ ...given, onSleep: toolkit.close });
}

/** Sandboxes that this process has open. */
async function open(): Promise<number> {
  const tasks = await readdir(`/proc/${process.pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${process.pid}/task/${task}/children`, 'utf8')));
  const lines = await Promise.all(
    lists.flatMap((list) =>
      list
        .trim()
        .split(' ')
        .filter(Boolean)
        .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    ),
  );
  return lines.filter((line) => line.includes('bwrap')).length;
}

/** Whether all of them end: one that was killed takes a moment to go where others use the cores. */
async function allEnd(): Promise<boolean> {
  for (let tries = 0; tries < 300 && (await open()) > 0; tries += 1) await delay(100);
  return (await open()) === 0;
}

const browse = { tool: 'browser_open', args: { url: `http://localhost:${port}/` } };

describe('a run with a browser', { skip: needs('chromium', 'bubblewrap'), timeout: 120_000 }, () => {
  test('shows its pictures to the model and keeps them with the result; nothing outlives it', async () => {
    const { agent, store, model } = await agentWith((_, turn) => {
      if (turn === 1) return { calls: [browse] };
      if (turn === 2) return { calls: [{ tool: 'browser_screenshot', args: {} }] };
      if (turn === 3) return { calls: [{ tool: 'run_background_job', args: { cmd: 'sleep 6161' } }] };
      return 'done';
    });
    const { outcome, sessionId } = await agent.ask({ to: web, content: 'look' });
    assert.equal(outcome, 'done');
    const results = (await store.events(sessionId, { after: 0, limit: 100 })).filter(
      ({ type }) => type === 'tool_result',
    );
    assert.match(JSON.stringify(results[0]), /heading \\"Orders\\"/);
    const shot = results[1];
    assert.ok(shot?.type === 'tool_result' && shot.attachments?.[0]?.kind === 'picture', JSON.stringify(shot));
    const seen = model.requests[2]?.messages.at(-1);
    assert.match(
      JSON.stringify(seen),
      /^\{"role":"user".*screenshots\/.*"image_url":\{"url":"data:image\/jpeg;base64,/,
    );
    await agent.sleep();
    assert.ok(await allEnd());
  });

  test('ends it without being put to sleep, and keeps it while somebody is asked', async () => {
    const { agent, store } = await agentWith(
      (_, turn) =>
        turn === 1
          ? { calls: [browse] }
          : turn === 2
            ? { calls: [{ tool: 'browser_press', args: { key: 'End' } }] }
            : 'done',
      { browser_press: 'ask' },
    );
    const { outcome, sessionId } = await agent.ask({ to: web, content: 'look' });
    assert.equal(outcome, 'waiting');
    assert.equal(await open(), 1);
    const events = await store.events(sessionId, { after: 0, limit: 100 });
    const request = events.find((event) => event.type === 'approval_requested');
    assert.ok(request?.type === 'approval_requested');
    await agent.decide(request.approvalId, true, 'owner');
    while (agent.busy() > 0 || (await store.session(sessionId))?.status !== 'idle') await new Promise(setImmediate);
    const said = (await store.events(sessionId, { after: 0, limit: 100 })).findLast(
      ({ type }) => type === 'tool_result',
    );
    assert.match(JSON.stringify(said), /Orders/, 'the page was still there');
    assert.ok(await allEnd());
    await agent.sleep();
  });
});
