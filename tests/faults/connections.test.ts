import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { testDatabase } from '@troupe/testing/database/server';
import { SERVICE_KEY, startService } from '@troupe/testing/processes/service';

/** Connections of one process to PostgreSQL: what docs/operating.md says of them. */

const POOL = 4;
/** Jobs: three for work and one that listens; and one that listens for everything else. */
const MORE = 5;
/** Connections that nobody needs are closed after three seconds. */
const REST_MS = 8_000;

for (const app of ['backend', 'web'] as const)
  test(`${app} has as many connections as operating.md says, and few of them while nothing happens`, async (t) => {
    const database = await testDatabase();
    const folder = await mkdtemp(path.join(tmpdir(), 'troupe-connections-'));
    const looking = new pg.Client({ connectionString: database.url, application_name: 'looking' });
    await looking.connect();
    const env = { DATABASE_URL: database.url, DATABASE_POOL: `${POOL}`, DATA_DIR: folder, OPENROUTER_API_KEY: 'k' };
    const service = await startService(app, { ...env, BACKEND_URL: 'http://127.0.0.1:9' });
    t.after(async () => {
      await service.kill('SIGKILL');
      await looking.end();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    });
    const count = async (): Promise<number> => {
      const { rows } = await looking.query<{ n: number }>(`select count(*)::int as n from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
      return rows[0]!.n;
    };
    async function watch(ms: number): Promise<number[]> {
      const seen: number[] = [];
      for (const until = performance.now() + ms; performance.now() < until; await delay(100)) seen.push(await count());
      return seen.sort((a, b) => a - b);
    }

    const over = new AbortController();
    const headers = { authorization: `Bearer ${SERVICE_KEY}` };
    const where = app === 'backend' ? '/api/agents' : '/ready';
    const ask = async (): Promise<void> => {
      while (!over.signal.aborted) await (await fetch(service.address + where, { headers })).arrayBuffer();
    };
    const asking = Array.from({ length: 40 }, ask);
    const busy = await watch(3_000);
    over.abort();
    await Promise.all(asking);
    assert.ok(busy.at(-1)! <= POOL + MORE, `${busy.at(-1)} connections`);
    if (app === 'backend') assert.ok(busy.at(-1)! >= POOL + 2, `${busy.at(-1)} connections`);

    await delay(REST_MS);
    const idle = await watch(6_000);
    t.diagnostic(
      `${idle[0]} to ${idle.at(-1)} connections while nothing happens, at the median ${idle[idle.length >> 1]}`,
    );
    assert.ok(idle[0]! >= 2, 'both listeners stay');
    assert.ok(idle[0]! <= 3 && idle.at(-1)! <= 6, `${idle[0]} to ${idle.at(-1)} connections`);
  });
