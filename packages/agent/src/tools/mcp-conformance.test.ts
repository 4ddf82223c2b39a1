import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createWorkerPool } from '@troupe/kernel';
import { useServer, type Wanted } from '@troupe/testing/mcp/client';
import { conformance } from '@troupe/testing/mcp/judge';
import { needs } from '@troupe/testing/machine/needs';

/**
 * The public conformance suite, against an agent's way to its MCP servers. The suite starts a program for every scenario,
 * all at once: a small one, that asks here. So the agent's code is loaded once, and a few are at work at a time.
 */

const root = path.resolve(import.meta.dirname, '../../../..');
const AT_ONCE = 4;

const pool = createWorkerPool();
let free = AT_ONCE;
const waiting: (() => void)[] = [];
const asked = new Set<string>();

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free -= 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}

const server = http.createServer((request, response) => {
  void (async () => {
    const wanted = (await json(request)) as Wanted;
    asked.add(wanted.scenario);
    const said = await inTurn(() => useServer(wanted, pool));
    response.end(said.join('\n'));
  })().catch((error: Error) => response.writeHead(500).end(error.stack));
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  server.close();
  await pool.close();
});

async function required(revision: string): Promise<string[]> {
  const { stdout } = await conformance(['list', '--requirements', revision]);
  const [, list = ''] = /Client scenarios[^\n]*\n((?: {2}- .*\n)+)/.exec(stdout) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}

describe('the conformance suite', { skip: needs('the MCP judges') }, () => {
  for (const revision of ['2026-07-28', '2025-11-25'])
    test(`passes for ${revision}, but for what is named with its reason`, async () => {
      const { port } = server.address() as AddressInfo;
      const program = `${process.execPath} ${path.join(root, 'packages/testing/src/mcp/ask.inside.ts')} ${port}`;
      const expected = path.join(root, `tests/judges/mcp-client-failures-${revision}.yml`);
      const args = ['client', '--command', program, '--requirements', revision, '--timeout', '240000'];
      asked.clear();
      const { code, said } = await conformance([...args, '--expected-failures', expected]);
      assert.equal(code, 0, said);
      const scenarios = await required(revision);
      assert.ok(scenarios.length > 15, 'the list was read');
      assert.deepEqual(
        scenarios.filter((one) => !asked.has(one)),
        [],
        'all that are required were asked',
      );
    });
});
