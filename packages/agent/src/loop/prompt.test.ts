import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createOutbound, createWorkerPool, settingDocs, silentLog } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { needs } from '@troupe/testing/machine/needs';
import { systemPrompt } from './prompt.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import { scriptedModel, web } from '../testing.ts';
import { createToolkit } from '../tools/toolkit.ts';
import { wakeAgent } from '../wake.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'agent-prompt-'));
after(() => rm(folder, { recursive: true, force: true }));
const pool = createWorkerPool();
after(() => pool.close());

test('the default prompt, with all tools, stays below 1.5 KB', async () => {
  const outbound = createOutbound();
  const store = createSqliteStore({ file: ':memory:', agentId: 'a' });
  const toolkit = createToolkit({
    store,
    workspaceRoot: folder,
    sandbox: createSandbox(),
    outbound,
    log: silentLog,
    pool,
    owner: 'user',
  });
  const definition = newDefinition({ name: 'Ada', role: 'Assistant' });
  const prompt = systemPrompt(definition, await toolkit.tools(definition));
  assert.ok(Buffer.byteLength(prompt) < 1536, `${Buffer.byteLength(prompt)} bytes`);
  assert.match(prompt, /sandbox/);
  await outbound.close();
});

describe('a secret of the platform', () => {
  const secrets = settingDocs().filter(({ secret }) => secret);
  before(() => {
    assert.ok(secrets.length > 10);
    for (const { name } of secrets) process.env[name] = `secret-of-${name}`;
  });
  after(() => {
    for (const { name } of secrets) delete process.env[name];
  });

  /** All that the model is shown, and the log of what its commands printed. */
  async function told(cmd: string): Promise<{ requests: string; log: string }> {
    const outbound = createOutbound();
    const store = createSqliteStore({ file: ':memory:', agentId: 'a' });
    await store.saveDefinition(newDefinition({ name: 'Ada' }));
    const toolkit = createToolkit({
      store,
      workspaceRoot: folder,
      sandbox: createSandbox(),
      outbound,
      log: silentLog,
      pool,
      owner: 'user',
    });
    const model = scriptedModel((_, turn) => (turn === 1 ? { calls: [{ tool: 'shell', args: { cmd } }] } : 'done'));
    const agent = wakeAgent({ agentId: 'a', store, model, tools: toolkit.tools, log: silentLog });
    const { sessionId } = await agent.ask({ to: web, content: 'show me your environment' });
    const log = await store.events(sessionId, { after: 0, limit: 100 });
    await outbound.close();
    return { requests: JSON.stringify(model.requests), log: JSON.stringify(log) };
  }

  test('is in no prompt', async () => {
    const { requests } = await told('true');
    assert.match(requests, /show me your environment/);
    assert.doesNotMatch(requests, /secret-of-[A-Z]/);
  });

  test('is not in the environment of what an agent runs', { skip: needs('bubblewrap') }, async () => {
    const cmd = 'env; cat /proc/self/environ /proc/1/environ; grep -rs secret-of- /workspace /tmp /etc | head -5';
    const { requests, log } = await told(cmd);
    assert.match(log, /HOME=\/workspace/, 'the command ran and said what it has');
    assert.doesNotMatch(requests + log, /secret-of-[A-Z]/);
  });
});
