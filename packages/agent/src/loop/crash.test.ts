import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { newId } from '@troupe/kernel';
import { z } from 'zod';
import { newDefinition } from '@troupe/domain';
import { createPgStore, unfinishedAgents } from '../store/store-pg.ts';
import { makeAgentRow, testAgent, web } from '../testing.ts';
import { tool } from '../tools/tool.ts';

let database: TestDatabase;
let folder = '';
before(async () => {
  database = await testDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'agent-crash-'));
});
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Runs an agent in another process, kills it with -9 where it hangs, and goes on in this one. */
async function crashAndResume(hangIn: string) {
  const agentId = newId();
  const trace = path.join(folder, agentId);
  await makeAgentRow(database.db, 'u', agentId);
  const store = createPgStore({ db: database.db, userId: 'u', agentId });
  await store.saveDefinition(newDefinition({ name: 'A', tools: [] }));

  const child = spawn(
    process.execPath,
    [path.join(import.meta.dirname, '../fixtures/crash-child.ts'), database.url, agentId, hangIn, trace],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  const done = (await readFile(trace, 'utf8')).trim().split('\n');

  const again: string[] = [];
  const step = (name: string, repeatable: boolean) =>
    tool({
      name,
      toolset: 'x',
      description: '',
      args: z.object({}),
      repeatable,
      run: async () => {
        again.push(name);
        return `${name} done`;
      },
    });
  const { agent, model } = await testAgent({
    agentId,
    store,
    toolList: [step('first', false), step('second', false), step('safe', true)],
    script: (request) => {
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      again.push(`model ${results}`);
      const next = ['first', 'safe', 'second'][results];
      return next ? { calls: [{ tool: next, args: {} }] } : 'all done';
    },
  });
  while ((await unfinishedAgents(database.db, 100)).every((one) => one.agentId !== agentId)) await delay(20);
  assert.equal(await agent.resume(), 1);
  const answer = await agent.ask({ to: web, content: 'go', inputId: 'one' });
  const results = model.requests
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'tool' ? [String(message.content)] : []));
  return { done, again, answer, results };
}

test('a run that takes its process down each time is given up after three', { timeout: 60_000 }, async () => {
  const agentId = newId();
  const trace = path.join(folder, agentId);
  await makeAgentRow(database.db, 'u', agentId);
  const store = createPgStore({ db: database.db, userId: 'u', agentId });
  await store.saveDefinition(newDefinition({ name: 'A', tools: [] }));
  const program = path.join(import.meta.dirname, '../fixtures/crash-child.ts');
  // The first one works on its input, the others take up what was left; each is killed in the same repeatable tool.
  for (let round = 0; round < 4; round += 1) {
    const args = [program, database.url, agentId, 'safe', trace, ...(round > 0 ? ['resume'] : [])];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    while ((await unfinishedAgents(database.db, 100)).every((one) => one.agentId !== agentId)) await delay(20);
  }
  assert.equal((await readFile(trace, 'utf8')).split('\n').filter((line) => line === 'safe').length, 4);
  const { agent, model } = await testAgent({ agentId, store });
  assert.equal(await agent.resume(), 1);
  const { outcome, reason } = await agent.ask({ to: web, content: 'go', inputId: 'one' });
  assert.equal(outcome, 'failed');
  assert.match(reason ?? '', /given up: it was taken up 3 times/);
  assert.equal(model.requests.length, 0, 'nothing of it was tried again');
  // The conversation goes on with the next message.
  assert.equal((await agent.ask({ to: web, content: 'and now' })).reply, 'ok');
});

describe('a process that is killed with -9', () => {
  test('in a tool that must not run twice: it is not repeated, and the model is told', async () => {
    const { done, again, answer, results } = await crashAndResume('first');
    assert.deepEqual(done, ['model 0', 'first']);
    assert.deepEqual(again, ['model 1', 'safe', 'model 2', 'second', 'model 3']);
    assert.match(results?.[0] ?? '', /interrupted by a restart/);
    assert.equal(answer.reply, 'all done');
  });

  test('in a tool that may run again: it does', async () => {
    const { done, again, answer } = await crashAndResume('safe');
    assert.deepEqual(done, ['model 0', 'first', 'model 1', 'safe']);
    assert.deepEqual(again, ['safe', 'model 2', 'second', 'model 3']);
    assert.equal(answer.reply, 'all done');
  });

  test('in a model call: it is asked again, and finished steps are not', async () => {
    const { done, again, answer } = await crashAndResume('model 2');
    assert.deepEqual(done, ['model 0', 'first', 'model 1', 'safe', 'model 2']);
    assert.deepEqual(again, ['model 2', 'second', 'model 3']);
    assert.equal(answer.reply, 'all done');
  });
});
