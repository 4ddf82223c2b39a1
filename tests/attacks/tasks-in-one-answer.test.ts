import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** A page of tasks of A2A with all that was said in them was one answer of half a gigabyte. */
const MB = 1024 * 1024;
const TASKS = 60;
const SAID = 15;

let scene: Scene;
before(async () => {
  scene = await startScene();
  const { id: userId, agentId } = scene.attacker;
  const { system } = scene.database.db;
  const id = newId();
  const events = TASKS * (SAID + 2);
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
    values (${id}, ${agentId}, ${userId}, 'a2a', ${id}, 'idle', ${events})`.execute(system);
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select ${id}, n, ${agentId}, ${userId}, case n % ${SAID + 2}::integer
      when 1 then jsonb_build_object('type', 'user', 'content', 'work', 'inputId', 'i' || n)
      when 0 then jsonb_build_object('type', 'run_ended', 'outcome', 'done')
      else jsonb_build_object('type', 'assistant', 'content', repeat(md5(n::text), 3200), 'saw', n - 1, 'toolCalls',
        case when n % ${SAID + 2}::integer = ${SAID + 1}::integer then '[]'::jsonb
          else jsonb_build_array(jsonb_build_object('callId', 'c' || n, 'tool', 'think', 'args', '{}')) end,
        'model', 'x', 'spent', jsonb_build_object('turns', 1, 'tokens', 1, 'costMicros', 0, 'ms', 1)) end
    from generate_series(1, ${events}::integer) n`.execute(system);
});
after(() => scene.stop());

test('a list of tasks ends at a bound, and all of them are found', { timeout: 180_000 }, async () => {
  const { attacker } = scene;
  const list = (params: object) =>
    attacker.askBackend('POST', `/api/runtime/proxy/${attacker.agentId}/a2a`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'ListTasks',
      params,
    });
  let found = 0;
  await scene.unharmed(async () => {
    for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
      const { body } = await list({ pageSize: 100, historyLength: 100, includeArtifacts: true, pageToken });
      const { result, error } = body;
      const bytes = JSON.stringify(body).length;
      assert.equal(error, undefined, JSON.stringify(error));
      assert.ok(bytes < 8 * MB, `an answer of ${bytes} bytes`);
      found += result.tasks.length;
      pageToken = result.nextPageToken || undefined;
    }
  });
  assert.equal(found, TASKS);
});
