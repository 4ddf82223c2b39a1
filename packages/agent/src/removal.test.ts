import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '@troupe/db';
import { createPgStore } from './store-pg.ts';
import { makeAgentRow, testAgent, web } from './testing.ts';

test('an agent that is deleted while it answers: the caller is told, nothing of it stays', async () => {
  const { db, drop } = await testDatabase();
  try {
    await makeAgentRow(db, 'u', 'agent');
    const gate = new EventEmitter();
    const { agent, model } = await testAgent({
      store: createPgStore({ db, userId: 'u', agentId: 'agent' }),
      script: async () => {
        await once(gate, 'go');
        return 'too late';
      },
    });
    const asked = assert.rejects(agent.ask({ to: web, content: 'go' }), { status: 404 });
    while (model.requests.length === 0) await new Promise(setImmediate);
    await sql`delete from agents where id = 'agent'`.execute(db.system);
    gate.emit('go');
    await asked;
    for (const table of ['agent_sessions', 'agent_events', 'agent_days', 'agent_definitions']) {
      const { rows } = await sql`select from ${sql.table(table)}`.execute(db.system);
      assert.equal(rows.length, 0, table);
    }
  } finally {
    await drop();
  }
});
