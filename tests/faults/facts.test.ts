import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat } from '@troupe/ai';
import { extractFactsJob } from '@troupe/contract';
import { startBackendProcess } from '@troupe/testing/processes/backend';
import { testDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import pg from 'pg';

/** A backend that is killed while it takes facts out of a conversation. */
test('by kill -9 while the model is asked: the next one finds the facts, once', { timeout: 240_000 }, async (t) => {
  const { db, url, drop } = await testDatabase();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'troupe-facts-'));
  const heard = { asked: 0 };
  const model = await createStandIn((request, response) => {
    if (!JSON.stringify(request.body['messages'] ?? '').includes('You keep the memory of an AI agent'))
      return replyChat(request, response, { content: 'Noted.' });
    heard.asked += 1;
    // The first one never hears an answer.
    if (heard.asked === 1) return;
    replyChat(request, response, {
      content: '{"facts":[{"fact":"The user lives in Rome.","message":1,"contradicts":[]}]}',
    });
  });
  const start = () =>
    startBackendProcess({ DATABASE_URL: url, DATA_DIR: dataDir, BLOB_STORE: 'folder', OPENROUTER_BASE_URL: model.url });
  const first = await start();
  const running = [first];
  const queue = new pg.Client({ connectionString: url });
  await queue.connect();
  t.after(async () => {
    await queue.end();
    for (const backend of running)
      if (backend.child.exitCode === null && backend.child.signalCode === null) await backend.end('SIGKILL');
    await model.close();
    await drop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const agentId = 'facts';
  await first.ask('POST', '/api/deployments', { agentId, config: { name: agentId, plan: 'solo' } });
  await first.ask('PUT', `/api/agents/${agentId}`, { config: { memory: { facts: true } } });
  await (await first.chat(agentId, 'I live in Rome.', 's')).text();
  await sql`update agent_memory_care set facts_seen = now() - interval '2 hours'`.execute(db.system);
  await sql`update agent_sessions set updated_at = now() - interval '1 hour'`.execute(db.system);
  while (heard.asked === 0) await delay(200);
  await first.end('SIGKILL');
  const next = await start();
  running.push(next);
  const facts = async () =>
    (
      await sql<{ content: string; seq: number }>`select content, source_seq as seq from agent_memory
        where source_session is not null`.execute(db.system)
    ).rows;
  while ((await facts()).length === 0) await delay(500);
  assert.equal(heard.asked, 2);
  // Once more, as a job may run twice.
  await sql`update agent_memory_care set facts_seen = now() - interval '2 hours'`.execute(db.system);
  const seen = async () =>
    (
      await sql<{
        late: boolean;
      }>`select facts_seen < now() - interval '1 hour' as late from agent_memory_care`.execute(db.system)
    ).rows[0]!.late;
  while (await seen()) await delay(500);
  // Sent with it, in one transaction, had there been anything to look at.
  const looking = async () =>
    (await queue.query("select from pgboss.job where name = $1 and state < 'completed'", [extractFactsJob.queue])).rows;
  while ((await looking()).length > 0) await delay(100);
  assert.deepEqual(await facts(), [{ content: 'The user lives in Rome.', seq: 1 }]);
  assert.equal(heard.asked, 2, 'a state of a conversation is asked about once');
});
