import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { createPgStore, unfinishedAgents } from '../store/store-pg.ts';
import { asking, makeAgentRow, testAgent, web } from '../testing.ts';
import { tool } from './tool.ts';
import { userPromptTools } from './user-prompt.ts';
import { z } from 'zod';

const QUESTION = { message: 'Which colour?', options: ['red', 'blue'] };

describe('a question to the person', () => {
  const asked = async () => {
    const made = await testAgent({ script: asking, toolList: userPromptTools() });
    const first = await made.agent.ask({ to: web, content: 'go' });
    assert.deepEqual([first.outcome, first.reply], ['waiting', 'Which colour?\n- red\n- blue']);
    const [pending] = await made.store.pendingApprovals();
    assert.deepEqual(pending?.question, QUESTION);
    return { ...made, sessionId: first.sessionId, approvalId: pending!.approvalId };
  };
  const said = async ({ agent, store, sessionId }: Awaited<ReturnType<typeof asked>>) => {
    while ((await store.session(sessionId))?.status !== 'idle') await delay(5);
    const events = await store.events(sessionId, { after: 0, limit: 100 });
    assert.deepEqual(await store.pendingApprovals(), []);
    assert.equal(agent.busy(), 0);
    return events.flatMap((event) => (event.type === 'assistant' && event.content ? [event.content] : []));
  };

  test('waits, and its answer is what the model reads, once', async () => {
    const world = await asked();
    await world.agent.decide(world.approvalId, true, 'owner', 'green');
    assert.deepEqual(await said(world), ['told: green']);
    await assert.rejects(world.agent.decide(world.approvalId, true, 'owner', 'red'), /already decided/);
  });

  test('may be left unanswered', async () => {
    const world = await asked();
    await world.agent.decide(world.approvalId, false, 'owner');
    assert.deepEqual(await said(world), ['told: They do not want to answer.']);
  });

  test('is answered by what is said in the conversation', async () => {
    const world = await asked();
    const { reply } = await world.agent.ask({ to: web, content: 'blue, please' });
    assert.match(reply, /Which colour/, 'the model asks this script anew');
    const request = world.model.requests.at(-1)!;
    assert.deepEqual(
      request.messages.slice(-2).map(({ role, content }) => [role, content]),
      [
        ['tool', 'They wrote in the conversation instead: what they said stands below.'],
        ['user', 'blue, please'],
      ],
    );
    assert.equal((await world.store.pendingApprovals()).length, 1);
  });

  test('ends with its run', async () => {
    const world = await asked();
    assert.equal(await world.agent.cancel(world.sessionId, 'owner'), true);
    while ((await world.store.session(world.sessionId))?.status !== 'idle') await delay(5);
    assert.deepEqual(await world.store.pendingApprovals(), []);
  });

  test('that is none is told to the model, and an owner who wants none is not asked', async () => {
    const script = (args: object) => (request: { messages: { role: string; content?: unknown }[] }) =>
      request.messages.at(-1)?.role === 'tool'
        ? String(request.messages.at(-1)?.content)
        : { calls: [{ tool: 'user_prompt', args }] };
    const wrong = await testAgent({ script: script({ message: '' }), toolList: userPromptTools() });
    assert.match((await wrong.agent.ask({ to: web, content: 'go' })).reply, /Invalid arguments/);
    const definition = { approvals: { user_prompt: 'deny' as const } };
    const denied = await testAgent({ script: script(QUESTION), toolList: userPromptTools(), definition });
    assert.match((await denied.agent.ask({ to: web, content: 'go' })).reply, /does not allow user_prompt/);
  });

  test('is no other tool of that name: a server’s call stays a call that is allowed or not', async () => {
    const seen: string[] = [];
    const run = async () => (seen.push('run'), 'ran');
    const args = z.object({ message: z.string() });
    const other = tool({ name: 'user_prompt', toolset: 'user', description: '', args, repeatable: false, run });
    const { agent, store } = await testAgent({
      script: asking,
      toolList: [{ ...other, offeredAs: 'prompt' }],
      definition: { approvals: { user: 'ask' } },
    });
    await agent.ask({ to: web, content: 'go' });
    const [pending] = await store.pendingApprovals();
    assert.equal(pending?.question, undefined);
    assert.deepEqual(seen, []);
  });
});

describe('a question over kill -9', { timeout: 60_000 }, () => {
  let database: TestDatabase;
  before(async () => void (database = await testDatabase()));
  after(() => database.drop());

  async function killed(agentId: string, how: string): Promise<void> {
    const program = path.join(import.meta.dirname, '../fixtures/question-child.ts');
    const child = spawn(process.execPath, [program, database.url, agentId, how], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
  }

  test('is there after it, and is answered once', async () => {
    const agentId = newId();
    await makeAgentRow(database.db, 'u', agentId);
    const store = createPgStore({ db: database.db, userId: 'u', agentId });
    await store.saveDefinition(newDefinition({ name: 'A', tools: [] }));
    await killed(agentId, 'asked');
    const [pending] = await store.pendingApprovals();
    assert.deepEqual(pending?.question, QUESTION);
    assert.equal(typeof (await store.decide(pending!.approvalId, true, 'owner', 'green')), 'object');
    assert.equal(await store.decide(pending!.approvalId, true, 'owner', 'red'), 'decided');
    // The next process has read the answer, and dies before it has said anything about it.
    await killed(agentId, 'answered');
    while ((await unfinishedAgents(database.db, 100)).every((one) => one.agentId !== agentId)) await delay(20);
    const { agent } = await testAgent({ agentId, store, script: asking, toolList: userPromptTools() });
    assert.equal(await agent.resume(), 1);
    const { reply, sessionId } = await agent.ask({ to: web, content: 'go', inputId: 'one' });
    assert.equal(reply, 'told: green');
    const events = await store.events(sessionId, { after: 0, limit: 100 });
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    assert.deepEqual([count('approval_requested'), count('approval_decided'), count('tool_result')], [1, 1, 1]);
  });
});
