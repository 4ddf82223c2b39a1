import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { newDefinition, type McpServer } from '@troupe/domain';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { startRegistry } from '@troupe/testing/npm/registry';
import { createPinFile } from '../programs/pin-file.ts';
import { createProgramShelf } from '../programs/shelf.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import { call } from './testing.ts';
import { createToolkit } from './toolkit.ts';

/** MCP servers that are npm packages, from a registry to a call: the real program in the real sandbox. */

const MODULES = path.resolve(import.meta.dirname, '../../../../node_modules');
const sandbox = createSandbox();
const registry = await startRegistry();
const pool = createWorkerPool();
const outbound = createOutbound({ allowLoopback: true });
const folder = await mkdtemp(path.join(tmpdir(), 'agent-npx-'));
after(async () => {
  await registry.stop();
  await pool.close();
  await outbound.close();
  await rm(folder, { recursive: true, force: true });
});

let made = 0;
function toolkitFor(withPrograms = true) {
  const place = path.join(folder, String((made += 1)));
  const pins = createPinFile(path.join(place, 'pins.json'));
  const shelf = createProgramShelf({
    root: path.join(folder, 'programs'),
    registry: registry.url,
    outbound,
    pool,
    log: silentLog,
    named: pins.named,
  });
  const toolkit = createToolkit({
    store: createSqliteStore({ file: ':memory:', agentId: 'a' }),
    workspaceRoot: path.join(place, 'workspace'),
    sandbox,
    outbound,
    log: silentLog,
    pool,
    owner: 'user',
    ...(withPrograms && { programs: { shelf, pins } }),
  });
  after(() => toolkit.close());
  return { ...toolkit, pins };
}

const definition = (server: Partial<McpServer>) =>
  newDefinition({ name: 'A', tools: [], mcpServers: [{ name: 'calc', ...server }] });
const npx = (...args: string[]) => definition({ command: 'npx', args: ['-y', ...args] });

const small = await readFile(path.join(import.meta.dirname, '../fixtures/mcp-server.mjs'), 'utf8');
const tiny = (version: string) => ({ name: 'tiny-mcp', version, bin: { 'tiny-mcp': 'server.mjs' } });
await registry.publish(tiny('1.0.0'), { 'server.mjs': `#!/usr/bin/env node\n${small}` });

describe('an MCP server that is an npm package', { skip: await sandbox.unavailable() }, () => {
  test('is installed, pinned and run in the sandbox, without a network and without writing to its own files', async () => {
    const toolkit = toolkitFor();
    const tools = await toolkit.tools(npx('tiny-mcp', 'told'));
    assert.equal(tools[0]?.name, 'calc_add', tools[0]?.description);
    assert.equal((await call(tools, 'calc_add', { a: 2, b: 2 })).content, '4');
    const seen = (await call(tools, 'calc_environment', {})).content;
    assert.match(seen, /"cwd":"\/workspace"/);
    assert.match((await call(tools, 'calc_get', { url: registry.url })).content, /^failed/);
    const pin = await toolkit.pins.load('calc');
    assert.deepEqual([pin?.name, pin?.version, pin?.packages.length], ['tiny-mcp', '1.0.0', 1]);
    assert.match(pin?.integrity ?? '', /^sha512-/);
  });

  test('keeps its version until its owner asks for a newer one', async () => {
    const toolkit = toolkitFor();
    const server = npx('tiny-mcp').mcpServers[0]!;
    await toolkit.tools(npx('tiny-mcp'));
    const renamed = small.replace("name: 'add'", "name: 'sum'");
    await registry.publish(tiny('2.0.0'), { 'server.mjs': `#!/usr/bin/env node\n${renamed}` });
    await toolkit.mcp.forget('calc');
    assert.equal((await toolkit.tools(npx('tiny-mcp')))[0]?.name, 'calc_add');
    const { programs } = toolkit.mcp;
    assert.equal((await programs?.update(server, new AbortController().signal))?.version, '2.0.0');
    await toolkit.mcp.forget('calc');
    assert.equal((await toolkit.tools(npx('tiny-mcp')))[0]?.name, 'calc_sum');
    const other = (await toolkit.tools(npx('tiny-mcp@1.0.0')))[0];
    assert.equal(other?.name, 'calc_add', 'other words are resolved anew');
    await programs?.forget(server);
    assert.equal(await toolkit.pins.load('calc'), undefined);
  });

  test('made with the public library and all that it needs works, and needs the registry once', async () => {
    const count = await registry.publishInstalled('@modelcontextprotocol/sdk', MODULES);
    assert.ok(count > 20, `${count} packages`);
    const manifest = {
      name: '@people/notes-mcp',
      version: '1.2.3',
      bin: 'index.mjs',
      dependencies: { '@modelcontextprotocol/sdk': '^1.0.0' },
    };
    await registry.publish(manifest, {
      'index.mjs': `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
const server = new McpServer({ name: 'notes', version: '1.2.3' });
server.registerTool('shout', { description: 'Shouts' }, async () => ({ content: [{ type: 'text', text: process.argv[2].toUpperCase() }] }));
await server.connect(new StdioServerTransport());
`,
    });
    const words = ['exec', '-y', '@people/notes-mcp@^1', '--', 'hello'];
    const toolkit = toolkitFor();
    const tools = await toolkit.tools(definition({ command: 'npm', args: words }));
    assert.equal(tools[0]?.name, 'calc_shout', tools[0]?.description);
    assert.equal((await call(tools, 'calc_shout', {})).content, 'HELLO');
    registry.requests.length = 0;
    await toolkit.mcp.forget('calc');
    assert.equal((await toolkit.tools(definition({ command: 'npm', args: words })))[0]?.name, 'calc_shout');
    assert.deepEqual(registry.requests, [], 'it is there');
  });

  test('that cannot be had says why, to the model and to its owner', async () => {
    const toolkit = toolkitFor();
    const [tool] = await toolkit.tools(npx('no-such-mcp'));
    assert.match(tool!.description, /no-such-mcp cannot be had: the registry has no version latest of it/);
    assert.match((await toolkit.tools(npx('./server.mjs')))[0]!.description, /is no package of the registry/);
    const [off] = await toolkitFor(false).tools(npx('tiny-mcp'));
    assert.match(off!.description, /programs are not installed from npm here/);
  });
});
