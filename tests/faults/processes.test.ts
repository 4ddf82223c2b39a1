import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { systemClock } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { isAlive, processTree } from '@troupe/testing/processes/program';
import { SERVICE_KEY, startService, type ServiceProcess } from '@troupe/testing/processes/service';
import { createCaps } from '@troupe/usage';

/** A backend in two processes behind one port. */

const USER = 'ann';
/** Of one call: 10 tokens in, 100 out. */
const CALL_MICROS = 1550;
/** The most that one could cost is a little more, for the words that are sent. */
const BOUND_MICROS = 2500;
const LIMIT_MICROS = 40_000;

let upstream: StandIn;
let database: TestDatabase;
let backend: ServiceProcess;

before(async () => {
  upstream = await createStandIn((request, response) =>
    replyChat(request, response, { usage: { prompt_tokens: 10, completion_tokens: 100 } }),
  );
  database = await testDatabase();
  const now = new Date();
  await database.db.system
    .insertInto('users')
    .values({ id: USER, email: 'ann@example.org', name: 'Ann', referral_code: 'ANN', created_at: now, updated_at: now })
    .execute();
  backend = await startService('backend', {
    DATABASE_URL: database.url,
    OPENROUTER_API_KEY: 'k',
    OPENROUTER_BASE_URL: upstream.url,
    PROCESSES: '2',
  });
  await untilBoth();
});

after(async () => {
  await backend.kill('SIGKILL');
  await database.drop();
  await upstream.close();
});

const headers = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json', connection: 'close' };

/** Ids of requests begin with the name of the process. */
const processOf = (response: Response): string => response.headers.get('x-request-id')?.split('-')[0] ?? '';

async function call(): Promise<{ status: number; by: string }> {
  const response = await fetch(`${backend.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, 'x-user-id': USER },
    body: JSON.stringify({ model: 'openai/gpt-4o', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.arrayBuffer();
  return { status: response.status, by: processOf(response) };
}

/** Those that answer. What was under way to one that is killed is cut off, as by any server. */
async function names(): Promise<Set<string>> {
  const asked = await Promise.allSettled(
    Array.from({ length: 16 }, async () => {
      const response = await fetch(`${backend.address}/health`, { headers });
      await response.arrayBuffer();
      return processOf(response);
    }),
  );
  return new Set(asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
}

/** Those that answer, once there are two. */
async function untilBoth(): Promise<Set<string>> {
  for (;;) {
    const found = await names();
    if (found.size === 2) return found;
    await delay(50);
  }
}

const workers = (): number[] => processTree(backend.pid).filter((pid) => pid !== backend.pid);

describe('a backend in two processes', { timeout: 120_000 }, () => {
  it('keeps a cap to the last call that fits, whichever of them is asked', async () => {
    const caps = createCaps({ db: database.db, clock: systemClock });
    await caps.set(USER, { scope: 'user', period: 'total', limitUsd: LIMIT_MICROS / 1e6 });
    const together = await Promise.all(Array.from({ length: 100 }, call));
    assert.equal(new Set(together.map(({ by }) => by)).size, 2);
    let answered = together.filter(({ status }) => status === 200).length;
    assert.ok(answered < 100);
    // What was set aside for those under way has come back: what is left is filled up.
    for (let last = await call(); last.status === 200; last = await call()) answered += 1;
    const [cap] = await caps.list(USER);
    const used = Math.round((cap?.usedUsd ?? 0) * 1e6);
    assert.deepEqual([used, cap?.reservedUsd], [answered * CALL_MICROS, 0]);
    assert.ok(used <= LIMIT_MICROS && used > LIMIT_MICROS - BOUND_MICROS, `${used} of ${LIMIT_MICROS}`);
    assert.equal(upstream.requests.length, answered);
  });

  it('tells the figures of both, whichever is asked', async () => {
    const response = await fetch(`${backend.address}/metrics`, { headers });
    const text = await response.text();
    const up = [...text.matchAll(/^process_uptime_seconds\{process="(\d+)"\} /gm)].map(([, number]) => number);
    assert.deepEqual(new Set(up), new Set(['1', '2']));
    assert.equal([...text.matchAll(/^# TYPE http_requests_total counter$/gm)].length, 1);
    const calls = [...text.matchAll(/^http_requests_total\{process="\d",.*route="\/v1\/chat.*status="200"\} (\d+)$/gm)];
    assert.equal(
      calls.reduce((sum, [, count]) => sum + Number(count), 0),
      upstream.requests.length,
    );
  });

  it('replaces one that is killed, while the other answers', async () => {
    const were = await untilBoth();
    const [victim] = workers();
    process.kill(victim!, 'SIGKILL');
    while (isAlive(victim!)) await delay(10);
    while ((await names()).size > 1) await delay(10);
    const are = await untilBoth();
    assert.equal([...are].filter((name) => were.has(name)).length, 1);
  });

  it('ends with all of them', async () => {
    const all = workers();
    assert.equal(all.length, 2);
    assert.deepEqual(await backend.kill('SIGTERM'), [0, null]);
    assert.deepEqual(all.filter(isAlive), []);
  });
});
