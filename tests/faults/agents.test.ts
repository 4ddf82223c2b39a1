import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { startBackendProcess, type BackendProcess } from '@troupe/testing/processes/backend';
import { createDirector, steps, type Director } from '@troupe/testing/services/director';
import { needs } from '@troupe/testing/machine/needs';

/** Real processes of the backend that end, share and lose their agents in the middle of work. */

let database: TestDatabase;
let director: Director;
let dataDir: string;
const running = new Set<BackendProcess>();

before(async () => {
  database = await testDatabase();
  director = await createDirector();
  dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-agents-'));
});
after(async () => {
  for (const backend of running)
    if (backend.child.exitCode === null && backend.child.signalCode === null) await backend.end('SIGKILL');
  await director.provider.close();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<BackendProcess> {
  const backend = await startBackendProcess({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    // a folder that all share; packages/fleet/src/two-machines.test.ts does the same without one
    BLOB_STORE: 'folder',
    OPENROUTER_BASE_URL: director.provider.url,
  });
  running.add(backend);
  return backend;
}

async function deploy(backend: BackendProcess, agentId: string, config: object = {}): Promise<string> {
  const { status } = await backend.ask('POST', '/api/deployments', {
    agentId,
    config: { name: agentId, plan: 'solo', ...config },
  });
  assert.equal(status, 'running');
  return agentId;
}

const STOPPED = 'The agent was stopped; its work goes on when it runs again.';

interface HandedOver {
  message: string;
  resume: { session: string; after: number };
}

/** A connection that breaks because the process ends is no failure of the test. */
const letBreak = (answer: Promise<Response>): void => void answer.then((got) => got.text()).catch(() => undefined);

/** What the agent said. */
async function words(response: Response): Promise<string> {
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}

/** What happened, without the marks of having been taken up again. */
const types = (events: { type: string }[]): string[] =>
  events.map(({ type }) => type).filter((type) => type !== 'recovered');

async function untilAnswered(backend: BackendProcess, agentId: string, session: string) {
  for (;;) {
    const found = await backend.log(agentId, session);
    if (found?.events.at(-1)?.type === 'run_ended') return found.events;
    await delay(200);
  }
}

const fileOf = (agentId: string, name: string): string =>
  readFileSync(path.join(dataDir, 'workspaces', agentId, name), 'utf8');

const append = (text: string) => ({ tool: 'shell', args: { cmd: `echo ${text} >> done.txt` } });

/** The sentence of an error in OpenAI's shape. */
const messageOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { message: string } }).error.message;

describe('a backend that ends while agents work', { skip: needs('bubblewrap') }, () => {
  test(
    'by kill -9: all of them go on after the restart, and no finished step is repeated',
    { timeout: 120_000 },
    async () => {
      const first = await start();
      const [tool, model, asks] = await Promise.all(['in-tool', 'in-model', 'asks'].map((id) => deploy(first, id)));
      const { definition } = await first.ask('GET', `/api/runtime/proxy/${asks}/definition`);
      await first.ask('PUT', `/api/runtime/proxy/${asks}/definition`, { ...definition, approvals: { shell: 'ask' } });

      const slow = { tool: 'shell', args: { cmd: 'echo begun >> done.txt; sleep 60', timeout: 100 } };
      letBreak(first.chat(tool!, steps(append('one'), slow, append('two'), { say: 'all done' }), 's'));
      letBreak(first.chat(model!, steps(append('one'), { wait: 'killed', say: 'all done' }), 's'));
      const asked = await first.chat(asks!, steps(append('one'), { say: 'all done' }), 's');
      assert.match(await words(asked), /needs an approval/);
      await director.waits('killed');
      while (
        !existsSync(path.join(dataDir, 'workspaces', tool!, 'done.txt')) ||
        !fileOf(tool!, 'done.txt').includes('begun')
      )
        await delay(50);
      assert.equal((await first.end('SIGKILL')).signal, 'SIGKILL');

      const second = await start();
      const { approvals } = await second.ask('GET', `/api/runtime/proxy/${asks}/approvals`);
      assert.deepEqual(
        approvals.map((one: { tool: string }) => one.tool),
        ['shell'],
      );
      await second.ask('POST', `/api/runtime/proxy/${asks}/approvals/${approvals[0].approvalId}`, { approved: true });
      await untilAnswered(second, asks!, 's');
      assert.equal(fileOf(asks!, 'done.txt'), 'one\n');

      await director.waits('killed');
      director.go('killed');
      const afterModel = await untilAnswered(second, model!, 's');
      assert.deepEqual(types(afterModel), [
        'user',
        'assistant',
        'tool_started',
        'tool_result',
        'assistant',
        'run_ended',
      ]);
      assert.equal(afterModel.at(-2).content, 'all done');
      assert.equal(fileOf(model!, 'done.txt'), 'one\n');

      const afterTool = await untilAnswered(second, tool!, 's');
      const result = ['assistant', 'tool_started', 'tool_result'];
      assert.deepEqual(types(afterTool), ['user', ...result, ...result, ...result, 'assistant', 'run_ended']);
      const interrupted = afterTool.filter(({ type }) => type === 'tool_result')[1];
      assert.match(interrupted.content, /interrupted by a restart/);
      assert.equal(afterTool.at(-1).outcome, 'done');
      assert.equal(fileOf(tool!, 'done.txt'), 'one\nbegun\ntwo\n');
      assert.equal((await second.end('SIGTERM')).code, 0);
    },
  );

  test('by SIGTERM: within ten seconds, and the next one goes on at once', { timeout: 60_000 }, async () => {
    const first = await start();
    const agentId = await deploy(first, 'term');
    const answer = first.chat(agentId, steps(append('one'), { wait: 'term', say: 'all done' }), 's');
    await director.waits('term');
    const streamed = await first.chat(agentId, steps({ wait: 'streamed', say: 'said later' }), 't', { stream: true });
    await director.waits('streamed');
    const ended = first.end('SIGTERM');
    // Both callers hear where they can go on.
    const refused = await answer;
    const { error } = (await refused.json()) as { error: HandedOver };
    assert.deepEqual([refused.status, error.message], [503, STOPPED]);
    const last = (await streamed.text()).trim().split('\n\n').at(-1) ?? '';
    const { error: broken } = JSON.parse(last.replace(/^data: /, '')) as { error: HandedOver };
    assert.equal(broken.message, STOPPED);
    const { code, ms } = await ended;
    assert.equal(code, 0);
    assert.ok(ms < 10_000, `${ms} ms`);

    const second = await start();
    const asked = Date.now();
    await director.waits('term');
    assert.ok(Date.now() - asked < 10_000, 'it waited for a lease that was let go');
    director.go('term');
    const events = await untilAnswered(second, agentId, 's');
    assert.deepEqual(types(events), ['user', 'assistant', 'tool_started', 'tool_result', 'assistant', 'run_ended']);
    assert.equal(fileOf(agentId, 'done.txt'), 'one\n');
    director.go('streamed');
    await untilAnswered(second, agentId, 't');
    for (const [{ resume }, words] of [
      [error, 'all done'],
      [broken, 'said later'],
    ] as const) {
      const where = `/api/runtime/proxy/${agentId}/sessions/${resume.session}?after=${resume.after}`;
      const { events: later } = await second.ask('GET', where);
      const said = (later as { type: string; content?: string }[]).filter(({ type }) => type !== 'recovered');
      assert.deepEqual([said.at(-2)?.content, said.at(-1)?.type], [words, 'run_ended']);
      assert.ok(!said.some(({ type }) => type === 'user'), 'what the caller said itself is not told again');
    }
    await second.end('SIGTERM');
  });
});

describe('two backends on one database', () => {
  test(
    'each runs any agent; on one conversation they take turns, and nothing is answered twice',
    { timeout: 60_000 },
    async () => {
      const both = await Promise.all([start(), start()]);
      await deploy(both[0], 'shared');
      const said = Array.from({ length: 20 }, (_, n) => `message ${n}`);
      const replies = await Promise.all(said.map((text, n) => both[n % 2]!.chat('shared', text, 's')));
      for (const reply of replies) {
        assert.equal(reply.status, 200);
        assert.equal(await words(reply), 'ok');
      }
      const { events } = (await both[1].log('shared', 's'))!;
      assert.deepEqual(
        events
          .filter(({ type }) => type === 'user')
          .map(({ content }) => String(content))
          .toSorted(),
        said.toSorted(),
      );
      // Inputs that came together are answered together, never one of them twice.
      const answers = events.filter(({ type }) => type === 'assistant');
      assert.ok(answers.length <= said.length);
      assert.equal(director.overlap('shared'), 1);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      );

      // What one changes holds in the other at once.
      await both[0].ask('PUT', '/api/runtime/proxy/shared/config', { model: { default: 'xiaomi/mimo-v2-pro' } });
      await both[1].chat('shared', 'again', 's');
      assert.equal(director.calls.at(-1)?.model, 'xiaomi/mimo-v2-pro');

      // A plan too, although both have the agent awake: in the one that is told with the next message, in the other soon.
      const model = async (backend: BackendProcess) => {
        assert.equal((await backend.chat('shared', 'again', 's')).status, 200);
        return director.calls.at(-1)?.model;
      };
      await both[0].ask('PUT', '/api/runtime/proxy/shared/config', { model: { default: 'openai/gpt-4o' } });
      for (const backend of both) assert.notEqual(await model(backend), 'openai/gpt-4o', 'not part of solo');
      await both[0].ask('PUT', '/api/agents/shared', { plan: 'network' });
      assert.equal(await model(both[0]), 'openai/gpt-4o');
      for (let tries = 0; (await model(both[1])) !== 'openai/gpt-4o'; tries += 1) {
        assert.ok(tries < 50, 'the other process has not heard of the plan');
        await delay(20);
      }
      assert.equal((await both[0].send('DELETE', '/api/agents/shared')).status, 200);
      const gone = await both[1].chat('shared', 'there?', 's');
      assert.deepEqual([gone.status, await messageOf(gone)], [404, 'Agent not found']);
      await Promise.all(both.map((one) => one.end('SIGTERM')));
    },
  );
});

describe('in the middle of an answer', () => {
  let backend: BackendProcess;
  before(async () => {
    backend = await start();
  });

  test('the agent is deleted: the stream ends, nothing of it stays or comes back', { timeout: 60_000 }, async () => {
    await deploy(backend, 'deleted');
    const file = { tool: 'write_file', args: { path: 'a.txt', content: 'x' } };
    const stream = await backend.chat('deleted', steps(file, { wait: 'deleted', say: 'late' }), 's', { stream: true });
    const text = stream.text();
    const plain = backend.chat('deleted', steps({ wait: 'for ever' }), 'other');
    await Promise.all([director.waits('deleted'), director.waits('for ever')]);
    assert.equal(fileOf('deleted', 'a.txt'), 'x');
    assert.equal((await backend.send('DELETE', '/api/agents/deleted')).status, 200);
    assert.equal(existsSync(path.join(dataDir, 'workspaces/deleted')), false);
    director.go('deleted');
    const told = await text;
    assert.doesNotMatch(told, /late/);
    assert.match(told, /data: \{"error":\{"message":"Agent not found",[^\n]*\}\}\n\n$/);
    const gone = await plain;
    assert.deepEqual([gone.status, await messageOf(gone)], [404, 'Agent not found']);
    for (const table of ['agent_sessions', 'agent_events', 'agent_definitions', 'agent_days', 'agent_logs']) {
      const { rows } = await sql`select from ${sql.table(table)} where agent_id = 'deleted'`.execute(
        database.db.system,
      );
      assert.equal(rows.length, 0, table);
    }
    assert.equal(existsSync(path.join(dataDir, 'workspaces/deleted')), false);
    assert.equal((await backend.chat('deleted', 'there?', 's')).status, 404);
  });

  test('the model goes down between two tool calls: a sentence, and the next message finds the work done', async () => {
    await deploy(backend, 'down');
    const file = { tool: 'write_file', args: { path: 'a.txt', content: 'x' } };
    const failed = await backend.chat('down', steps(file, { down: true }), 's');
    assert.equal(failed.status, 502);
    assert.match(await messageOf(failed), /^.{10,}$/);
    const { events } = (await backend.log('down', 's'))!;
    assert.deepEqual(types(events), ['user', 'assistant', 'tool_result', 'run_ended']);
    assert.equal(events.at(-1).outcome, 'failed');
    const next = await backend.chat('down', 'go on', 's');
    assert.equal(await words(next), 'ok');
    assert.equal((await backend.log('down', 's'))!.events.filter(({ type }) => type === 'tool_result').length, 1);
  });

  test('its configuration changes: the next step follows it', { skip: needs('bubblewrap') }, async () => {
    await deploy(backend, 'changed', { model: 'openai/gpt-4o-mini' });
    const before = director.calls.length;
    const answer = backend.chat('changed', steps({ tool: 'shell', args: { cmd: 'sleep 2' } }, { say: 'done' }), 's');
    while ((await backend.log('changed', 's'))?.events.at(-1)?.type !== 'tool_started') await delay(20);
    await backend.ask('PUT', '/api/runtime/proxy/changed/config', { model: { default: 'xiaomi/mimo-v2-pro' } });
    assert.equal(await words(await answer), 'done');
    assert.deepEqual(
      director.calls.slice(before).map(({ model }) => model),
      ['openai/gpt-4o-mini', 'xiaomi/mimo-v2-pro'],
    );
  });
});
