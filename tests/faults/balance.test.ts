import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { tasksWaiting } from '@troupe/contract';
import { notify } from '@troupe/db';
import { newId, systemClock } from '@troupe/kernel';
import { createRoster } from '@troupe/roster';
import { testDatabase } from '@troupe/testing/database/server';
import { SERVICE_KEY, SERVICE_WALLET_KEY, startService, type ServiceProcess } from '@troupe/testing/processes/service';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { sql } from 'kysely';

/** Work follows when a backend comes, goes or dies: processes of their own, one database, a model that waits. */

const MOVED_MS = 10_000;
/** Of one that was killed the others know when its lease is over, which is 15 s, and look every five. */
const DEAD_MS = 25_000;
/** The same of channels: 30 s, and two looks. */
const LISTEN_DEAD_MS = 45_000;
const headers = { authorization: `Bearer ${SERVICE_KEY}` };

describe('backends come and go', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let folder: string;
  let model: StandIn;
  /** Whoever asks now is never answered. */
  let silent = false;
  /** How often, by the key that each backend shows. */
  const asked = new Map<string, number>();
  const askedBy = (backend: number): number => asked.get(`Bearer k${backend}`) ?? 0;
  const running: ServiceProcess[] = [];
  const start = async (): Promise<ServiceProcess> => {
    const made = await startService('backend', {
      DATABASE_URL: database.url,
      STOP_WAIT_SECONDS: '1',
      OPENROUTER_API_KEY: `k${running.length}`,
      OPENROUTER_BASE_URL: model.url,
      DATA_DIR: path.join(folder, `${running.length}`),
    });
    running.push(made);
    return made;
  };
  before(async () => {
    database = await testDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'troupe-balance-'));
    model = await createStandIn((request, response) => {
      const by = request.headers.authorization ?? '';
      asked.set(by, (asked.get(by) ?? 0) + 1);
      if (!silent) replyChat(request, response);
    });
  });
  after(async () => {
    await Promise.all(running.map((one) => one.kill('SIGKILL')));
    await model?.close();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function until(what: string, ms: number, done: () => Promise<boolean>): Promise<number> {
    const began = performance.now();
    while (!(await done())) {
      assert.ok(performance.now() - began < ms, what);
      await delay(50);
    }
    return performance.now() - began;
  }
  const count = async (query: ReturnType<typeof sql<{ n: number }>>): Promise<number> =>
    (await query.execute(database.db.system)).rows[0]!.n;

  async function makeAgent(backend: ServiceProcess, agentId: string): Promise<void> {
    const config = { name: agentId, plan: 'network' };
    const made = await send(`${backend.address}/api/deployments`, 'POST', { agentId, config }, headers);
    assert.ok(made.status < 300, JSON.stringify(made.body));
  }

  /** An answer that is under way there when it ends by this signal is given by another; so long after. */
  async function moved(backend: ServiceProcess, signal: NodeJS.Signals, most: number): Promise<number> {
    const agentId = `agent-${signal.toLowerCase()}`;
    await makeAgent(backend, agentId);
    silent = true;
    const number = running.indexOf(backend);
    const before = askedBy(number);
    const body = { messages: [{ role: 'user', content: 'Say something.' }], user: 'talk' };
    const chat = `${backend.address}/api/runtime/proxy/${agentId}/v1/chat/completions`;
    const said = send(chat, 'POST', body, headers).catch(() => undefined);
    await until('the model is asked', 30_000, async () => askedBy(number) > before);
    silent = false;
    await backend.kill(signal);
    await said;
    const answered = sql<{ n: number }>`select count(*)::int as n from agent_events
      where agent_id = ${agentId} and type = 'run_ended'`;
    return until('another goes on with it', most, async () => (await count(answered)) === 1);
  }

  test('what one that is stopped had under way is taken up within ten seconds, and of one that is killed within 25', async (t) => {
    const [first, second] = [await start(), await start()];
    await start();
    const stopped = await moved(first, 'SIGTERM', MOVED_MS);
    t.diagnostic(`taken up ${(stopped / 1000).toFixed(1)} s after the end of one that was stopped`);
    const killed = await moved(second, 'SIGKILL', DEAD_MS);
    t.diagnostic(`taken up ${(killed / 1000).toFixed(1)} s after the end of one that was killed`);
  });

  test('one that comes takes its part of what is due within ten seconds', async (t) => {
    const { db } = database;
    const { of } = createRoster({ db, clock: systemClock, sealKey: SERVICE_WALLET_KEY });
    silent = true;
    for (let person = 0; person < 20; person += 1) {
      const { id } = await addUser({ db }, { plan: 'network' });
      const agent = {
        id: newId(),
        userId: id,
        name: 'A',
        plan: 'network',
        status: 'running',
        model: 'openai/gpt-4o-mini',
      } as const;
      await of(id).add([agent], Infinity);
      await sql`insert into scheduled_tasks
          (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
        select ${id} || n, ${id}, ${agent.id}, 'T', '0 0 29 2 *', 'go', true, now(), now(), now()
        from generate_series(1, 8) n`.execute(db.system);
    }
    await notify(db.system, tasksWaiting, '');
    await until('one has as many as it may have', 60_000, async () => askedBy(2) >= 90);
    await start();
    const ms = await until('another has some of the rest', MOVED_MS, async () => askedBy(3) >= 20);
    t.diagnostic(`20 are under way at another ${(ms / 1000).toFixed(1)} s after it listens`);
    silent = false;
  });

  /** How many channels each listens at. */
  async function listening(...backends: ServiceProcess[]): Promise<number[]> {
    const texts = backends.map(async ({ address }) => (await fetch(`${address}/metrics`, { headers })).text());
    return (await Promise.all(texts)).map((text) => Number(/^channels_listening(?:\{.*\})? (\d+)$/m.exec(text)?.[1]));
  }

  test('channels go where they have room: to one that comes within ten seconds, and from one that is killed when its leases are over', async (t) => {
    const { db } = database;
    const { of } = createRoster({ db, clock: systemClock, sealKey: SERVICE_WALLET_KEY });
    const { id } = await addUser({ db }, { plan: 'network' });
    // Nobody answers there: a channel that fails is held all the same, and tried again.
    const mail = { address: 'a@example.org', password: 'p', imapHost: '127.0.0.1', smtpHost: '127.0.0.1' };
    const agents = Array.from({ length: 12 }, () => ({
      id: newId(),
      userId: id,
      name: 'A',
      plan: 'network' as const,
      status: 'running' as const,
      model: 'openai/gpt-4o-mini',
      channels: { email: JSON.stringify(mail) },
    }));
    await of(id).add(agents, Infinity);
    const two = running.slice(2);
    assert.equal(two.length, 2);
    const evenly =
      (each: number, ...backends: ServiceProcess[]) =>
      async (): Promise<boolean> =>
        (await listening(...backends)).every((own) => own === each);
    await until('each has half of them', 60_000, evenly(6, ...two));
    const third = await start();
    const came = await until('another has some of them', MOVED_MS, async () => (await listening(third))[0]! > 0);
    t.diagnostic(`one that comes listens at some ${(came / 1000).toFixed(1)} s after it is there`);
    await until('each has a third of them', 60_000, evenly(4, ...two, third));
    const held = sql<{ n: number }>`select count(*)::int as n from agent_sessions
      where channel = 'email' and key = 'listener' and lease_owner is not null and lease_until > now()`;
    assert.equal(await count(held), 12);
    await third.kill('SIGKILL');
    const taken = await until('others have what it had', LISTEN_DEAD_MS, evenly(6, ...two));
    t.diagnostic(`others listen in place of one that was killed after ${(taken / 1000).toFixed(1)} s`);
  });
});
