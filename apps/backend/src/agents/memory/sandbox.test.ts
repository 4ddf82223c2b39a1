import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { extractFactsJob } from '@troupe/contract';
import { elsewhere, send, type Body } from '@troupe/testing/services/people';
import { addUser, startServices } from '@troupe/testing/services/services';

/** Without a provider the sandbox answers, which understands nothing. */
test('facts need a model, and the page says so', async (t) => {
  const services = await startServices({ TRUST_PROXY: '1' });
  t.after(() => services.stop());
  const ada = await addUser(services.runtime, { plan: 'solo' });
  const ask = async (method: string, path: string, body?: unknown): Promise<Body> =>
    (await send(services.web + path, method, body, { authorization: `Bearer ${ada.key}`, 'x-client-ip': elsewhere() }))
      .body;
  const agentId: string = (await ask('POST', '/api/agents/provision', { name: 'Ada' })).agent.id;
  await ask('PUT', `/api/agents/${agentId}/memory`, { facts: true });
  await ask('POST', '/api/chat', { agentId, message: '{"facts":[{"fact":"I am Ada.","message":1,"contradicts":[]}]}' });
  const { db, jobs } = services.runtime;
  const { id: sessionId } = await db.system
    .selectFrom('agent_sessions')
    .select('id')
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow();
  await db.asSystem((tx) => jobs.send(tx, extractFactsJob, { userId: ada.id, agentId, sessionId }, { owner: ada.id }));
  for (let tries = 0; ; tries += 1) {
    const { factsNote, found } = await ask('GET', `/api/agents/${agentId}/memory`);
    assert.deepEqual(found, []);
    if (factsNote !== null) {
      assert.match(factsNote, /only the sandbox answers, and facts need a model/);
      return;
    }
    assert.ok(tries < 300, 'nothing was said');
    await delay(100);
  }
});
