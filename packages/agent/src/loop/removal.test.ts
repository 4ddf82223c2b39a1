import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { type Database } from '@troupe/db';
import { testDatabase } from '@troupe/testing/database/server';
import type { AgentStore } from '../store/store.ts';
import { createPgStore } from '../store/store-pg.ts';
import { makeAgentRow, testAgent, web } from '../testing.ts';

const GONE = { status: 404, message: 'Agent not found' };
const STOPPED = { status: 503, message: 'The agent was stopped; its work goes on when it runs again.' };

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
    const asked = assert.rejects(agent.ask({ to: web, content: 'go' }), GONE);
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

describe('an agent that is put to sleep while it answers', () => {
  /** What the caller of a model that never answers is told, when `meanwhile` came before the sleep. */
  async function told(
    expected: object,
    meanwhile: (db: Database) => Promise<unknown>,
    change: (store: AgentStore) => AgentStore = (store) => store,
  ): Promise<void> {
    const { db, drop } = await testDatabase();
    try {
      await makeAgentRow(db, 'u', 'agent');
      const { agent, model } = await testAgent({
        store: change(createPgStore({ db, userId: 'u', agentId: 'agent' })),
        script: (_request, _turn, signal) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
      });
      const asked = assert.rejects(agent.ask({ to: web, content: 'go' }), expected);
      while (model.requests.length === 0) await new Promise(setImmediate);
      await meanwhile(db);
      await agent.sleep();
      await asked;
    } finally {
      await drop();
    }
  }
  const remove = (db: Database) => sql`delete from agents where id = 'agent'`.execute(db.system);

  test('because it was deleted: its caller is told so', () => told(GONE, remove));

  test('because it was stopped: its caller is told that it goes on', () => told(STOPPED, async () => {}));

  test('in a shutdown, when nobody can look it up any more: it counts as stopped', () => {
    let away = false;
    return told(
      STOPPED,
      async () => (away = true),
      (store) => ({
        ...store,
        definition: async () => {
          if (away) throw new Error('the database is away');
          return store.definition();
        },
      }),
    );
  });
});
