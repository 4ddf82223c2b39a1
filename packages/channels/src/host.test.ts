import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { createPgStore, wakeAgent, type Agent } from '@troupe/agent';
import { createAi, providersFrom } from '@troupe/ai';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { createOutbound, silentLog, systemClock } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createChannelHost } from './host.ts';
import { createRoster } from '@troupe/roster';

const SEAL_KEY = 'test-seal-key';
let database: TestDatabase;
const outbound = createOutbound({ allowLoopback: true });
const ai = createAi({ providers: providersFrom(testSettings()), catalogue: BUILT_IN_CATALOGUE, log: silentLog });

/** Telegram as far as it is needed: one message, and what is sent back. */
const sent: { chat_id: number; text: string }[] = [];
const polls: string[] = [];
const telegram = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { offset: number; chat_id: number; text: string };
    const update = { update_id: 1, message: { message_id: 1, text: 'hello', chat: { id: 5 }, from: { id: 7 } } };
    const polling = request.url?.endsWith('/getUpdates');
    const result = polling && body.offset <= 1 ? [update] : polling ? [] : { id: 99, username: 'ada_bot' };
    if (polling) polls.push(request.url ?? '');
    else if (request.url?.endsWith('/sendMessage')) sent.push(body);
    setTimeout(() => response.end(JSON.stringify({ ok: true, result })), polling && body.offset > 1 ? 50 : 0);
    telegram.emit('told');
  });
});

before(async () => {
  database = await testDatabase();
  telegram.listen(0, '127.0.0.1');
  await once(telegram, 'listening');
});
after(async () => {
  telegram.close().closeAllConnections();
  await ai.close();
  await outbound.close();
  await database.drop();
});

describe('channels of running agents', () => {
  test('are started from their sealed tokens, answer, and stop with the agent', async () => {
    const { db } = database;
    await sql`insert into users (id, email, name, referral_code, created_at, updated_at)
      values ('u', 'u@test', 'U', 'u', now(), now())`.execute(db.system);
    const { of, system: roster } = createRoster({ db, clock: systemClock, sealKey: SEAL_KEY });
    await of('u').add(
      [
        {
          id: 'a',
          userId: 'u',
          name: 'A',
          plan: 'solo',
          status: 'running',
          model: 'sandbox/echo',
          definition: {},
          ownConfig: { channels: { channelA: { enabled: true } }, channelUserId: '7' },
          channels: { channelA: 'T0KEN' },
        },
      ],
      1,
    );
    const { rows } = await sql<{ sealed: Buffer }>`select sealed from agent_channels where sealed is not null`.execute(
      db.system,
    );
    assert.ok(!rows[0]?.sealed.includes('T0KEN'));

    let awake: Agent | undefined;
    const agent = async (agentId: string): Promise<Agent> =>
      (awake ??= wakeAgent({
        agentId,
        store: createPgStore({ db, userId: 'u', agentId }),
        model: ai,
        tools: async () => [],
        log: silentLog,
      }));
    const urls = { telegram: `http://127.0.0.1:${(telegram.address() as AddressInfo).port}` };
    const host = createChannelHost({ db, sealKey: SEAL_KEY, agent, outbound, log: silentLog, urls });
    await host.refresh();
    await host.refresh();
    assert.equal(host.running(), 1);
    while (sent.length === 0) await once(telegram, 'told');
    assert.equal(sent[0]?.chat_id, 5);
    assert.match(sent[0]?.text ?? '', /hello/);
    assert.equal(polls[0], '/botT0KEN/getUpdates');

    for (const [change, why] of [
      [{ status: 'stopped' }, 'it is stopped'],
      [{ status: 'running', driver: 'hosting' }, 'where it runs it listens itself'],
    ] as const) {
      await roster.change('a', change);
      await host.refresh();
      assert.equal(host.running(), 0, why);
      await roster.change('a', { status: 'running', driver: null });
      await host.refresh();
      assert.equal(host.running(), 1);
    }
    await roster.change('a', { status: 'stopped' });
    await host.refresh();
    await host.close();
    await awake?.sleep();
  });

  test('one that could not be started listens no more, and nothing starts after the end', async () => {
    const { db } = database;
    const { system: roster } = createRoster({ db, clock: systemClock, sealKey: SEAL_KEY });
    const urls = { telegram: `http://127.0.0.1:${(telegram.address() as AddressInfo).port}` };
    const agent = async () => undefined;
    const host = createChannelHost({ db, sealKey: SEAL_KEY, agent, outbound, log: silentLog, urls });
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    await owner.query(`alter table agent_logs add constraint refused check (message <> 'Channel started.') not valid`);
    await roster.change('a', { status: 'running' });
    await host.refresh();
    await owner.query('alter table agent_logs drop constraint refused');
    await owner.end();
    assert.equal(host.running(), 0);
    const { rows } = await sql`select from agent_sessions where agent_id = 'a' and lease_owner is not null`.execute(
      db.system,
    );
    assert.equal(rows.length, 0, 'nobody holds its place');

    await host.close();
    await host.refresh();
    assert.equal(host.running(), 0);
  });
});
