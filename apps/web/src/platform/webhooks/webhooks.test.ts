import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { raiseNotice } from '@troupe/accounts';
import { createOutbound, newId } from '@troupe/kernel';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

/** What owners are told, judged by the public library for Standard Webhooks. */

interface Told {
  headers: IncomingHttpHeaders;
  body: string;
}

let web: TestWeb;
let ada: Person;
let told: Told[] = [];
let answers: number[] = [];
/** Which test it is. */
let turn = 0;
const here = (): string => `/hook/${turn}`;
const receiver = createServer((request, response) => {
  void (async () => {
    let body = '';
    for await (const part of request) body += String(part);
    // What an earlier test left to be tried again is none of this one's.
    const isOurs = request.url === here();
    if (isOurs) told.push({ headers: request.headers, body });
    response.writeHead((isOurs ? answers.shift() : undefined) ?? 204, { location: '/elsewhere' }).end();
  })();
});
let url: string;

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  web = await startWeb();
});
after(async () => {
  await web.stop();
  receiver.close().closeAllConnections();
});
beforeEach(async () => {
  told = [];
  answers = [];
  turn += 1;
  ada = await web.signUp();
});

async function until<T>(find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = Date.now() + 90_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, 'it never came');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function hook(person: Person, events: string[], to = url + here()) {
  const made = await person.ask('POST', '/api/webhooks', { url: to, events });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return { id: made.body.webhook.id as string, secret: made.body.secret as string };
}

const log = async (person: Person, id: string) =>
  (await person.ask('GET', `/api/webhooks/${id}/deliveries`)).body.deliveries as {
    id: string;
    type: string;
    status: string;
    attempts: number;
    answered: number | null;
    problem: string | null;
  }[];

const verified = (secret: string, { headers, body }: Told) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string;
    timestamp: string;
    data: Record<string, unknown>;
  };

const raise = (person: Person, subject: string) =>
  web.deps.db.asSystem((tx) =>
    raiseNotice(tx, { userId: person.id, kind: 'task_failing', subject, message: subject }, new Date()),
  );

async function agentOf({ id: userId }: Person) {
  const agentId = newId();
  const { system } = web.deps.db;
  await system
    .insertInto('agents')
    .values({ id: agentId, user_id: userId, name: 'Agent', status: 'running' })
    .execute();
  return agentId;
}

describe('what happens', () => {
  test('is told as Standard Webhooks says: runs, approvals, tasks, payments, notices', async () => {
    const { secret } = await hook(ada, [
      'run.finished',
      'approval.waiting',
      'task.failed',
      'payment.waiting',
      'notice.raised',
    ]);
    const agentId = await agentOf(ada);
    const { system } = web.deps.db;
    const [sessionId, taskId, now] = [newId(), newId(), new Date()];
    const mine = { user_id: ada.id, agent_id: agentId };
    await system
      .insertInto('agent_sessions')
      .values({ id: sessionId, ...mine, key: 'x', channel: 'api' })
      .execute();
    await system
      .insertInto('agent_events')
      .values([
        { session_id: sessionId, seq: 1, ...mine, data: JSON.stringify({ type: 'user', content: 'secret words' }) },
        {
          session_id: sessionId,
          seq: 2,
          ...mine,
          data: JSON.stringify({ type: 'approval_requested', approvalId: 'a1', tool: 'shell', args: 'secret words' }),
        },
        { session_id: sessionId, seq: 3, ...mine, data: JSON.stringify({ type: 'run_ended', outcome: 'done' }) },
      ])
      .execute();
    await system
      .insertInto('scheduled_tasks')
      .values({
        id: taskId,
        ...mine,
        name: 'T',
        cron_schedule: '* * * * *',
        prompt: 'p',
        created_at: now,
        updated_at: now,
      })
      .execute();
    const run = { task_id: taskId, user_id: ada.id, started_at: now, due_at: now };
    await system
      .insertInto('task_runs')
      .values({ id: 'run-1', ...run, status: 'running' })
      .execute();
    await system.updateTable('task_runs').set({ status: 'failed' }).where('id', '=', 'run-1').execute();
    await system
      .insertInto('agent_payments')
      .values({
        id: 'payment-1',
        ...mine,
        units: 5n,
        currency: 'USDC',
        recipient: '0x1',
        method: 'default',
        status: 'approval',
        created_at: now,
        updated_at: now,
      })
      .execute();
    await raise(ada, 'broken');
    await until(() => (told.length >= 5 ? true : undefined));
    const said = told.map((one) => verified(secret, one));
    assert.deepEqual(said.map(({ type }) => type).toSorted(), [
      'approval.waiting',
      'notice.raised',
      'payment.waiting',
      'run.finished',
      'task.failed',
    ]);
    const of = (type: string) => said.find((one) => one.type === type)?.data;
    assert.deepEqual(of('run.finished'), { id: `${sessionId}:3`, agentId, sessionId, outcome: 'done' });
    assert.equal(of('approval.waiting')?.['approvalId'], 'a1');
    assert.equal(of('task.failed')?.['taskId'], taskId);
    // Thin: who wants to know more asks, with a key.
    assert.doesNotMatch(told.map(({ body }) => body).join(), /secret words/);
  });

  test('is told to nobody else, and not where it was not asked for', async () => {
    const ben = await web.signUp();
    const [mine, his] = [await hook(ada, ['run.finished']), await hook(ben, ['notice.raised'])];
    await raise(ada, 'mine');
    await raise(ben, 'his');
    await until(() => (told.length > 0 ? true : undefined));
    assert.equal(told.length, 1);
    assert.equal(verified(his.secret, told[0]!).type, 'notice.raised');
    assert.throws(() => verified(mine.secret, told[0]!));
    assert.deepEqual(await log(ada, mine.id), []);
    for (const [method, path] of [
      ['GET', '/deliveries'],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/test'],
    ] as const)
      assert.equal(
        (await ben.ask(method, `/api/webhooks/${mine.id}${path}`, method === 'GET' ? undefined : {})).status,
        404,
      );
  });

  test('an undone transaction tells nothing', async () => {
    const { id } = await hook(ada, ['notice.raised']);
    await assert.rejects(
      web.deps.db.asSystem(async (tx) => {
        await raiseNotice(tx, { userId: ada.id, kind: 'task_failing', subject: 's', message: 'm' }, new Date());
        throw new Error('undone');
      }),
      /undone/,
    );
    assert.deepEqual(await log(ada, id), []);
  });
});

describe('an address', () => {
  test('that fails is told again, under the same id; the log says all of it', async () => {
    answers = [500];
    const { id, secret } = await hook(ada, ['notice.raised']);
    await raise(ada, 'twice');
    await until(() => (told.length >= 2 ? true : undefined));
    assert.equal(told[0]?.headers['webhook-id'], told[1]?.headers['webhook-id']);
    verified(secret, told[1]!);
    const [only] = await until(async () => {
      const rows = await log(ada, id);
      return rows[0]?.status === 'delivered' ? rows : undefined;
    });
    assert.deepEqual([only?.attempts, only?.answered, only?.problem], [2, 204, null]);
    const again = await ada.ask('POST', `/api/webhooks/${id}/deliveries/${only?.id}/replay`, {});
    assert.equal(again.status, 202);
    await until(() => (told.length >= 3 ? true : undefined));
    assert.equal(told[2]?.headers['webhook-id'], only?.id);
  });

  test('that redirects is not followed', async () => {
    answers = [302];
    const { id } = await hook(ada, ['notice.raised']);
    await ada.ask('POST', `/api/webhooks/${id}/test`, {});
    const [row] = await until(async () => {
      const rows = await log(ada, id);
      return rows[0]?.problem ? rows : undefined;
    });
    assert.deepEqual([row?.problem, row?.answered], ['answered 302', 302]);
  });

  test('inside of the network is not connected to', async () => {
    const { id } = await hook(ada, ['notice.raised'], 'http://10.0.0.1/hook');
    await ada.ask('POST', `/api/webhooks/${id}/test`, {});
    const [row] = await until(async () => {
      const rows = await log(ada, id);
      return rows[0]?.problem ? rows : undefined;
    });
    assert.equal(row?.answered, null);
    assert.match(row?.problem ?? '', /not allowed|blocked|private/i);
    // On a machine that others reach, neither is this machine.
    const outbound = createOutbound();
    await assert.rejects(outbound.fetch(url), { kind: 'blocked' });
    await outbound.close();
  });

  test('gets a new secret, and both sign for a day', async () => {
    const { id, secret: old } = await hook(ada, ['notice.raised']);
    const rotated = await ada.ask('POST', `/api/webhooks/${id}/rotate`, {});
    const fresh = rotated.body.secret as string;
    assert.notEqual(fresh, old);
    await ada.ask('POST', `/api/webhooks/${id}/test`, {});
    await until(() => (told.length > 0 ? true : undefined));
    for (const secret of [old, fresh]) assert.equal(verified(secret, told[0]!).type, 'webhook.test');
    await web.deps.db.system
      .updateTable('webhook_endpoints')
      .set({ old_secret_until: new Date(0) })
      .where('id', '=', id)
      .execute();
    await ada.ask('POST', `/api/webhooks/${id}/test`, {});
    await until(() => (told.length > 1 ? true : undefined));
    verified(fresh, told[1]!);
    assert.throws(() => verified(old, told[1]!));
    const listed = JSON.stringify((await ada.ask('GET', '/api/webhooks')).body);
    assert.ok(!listed.includes(old) && !listed.includes(fresh));
  });

  test('is checked when it is given, and there are twenty at most', async () => {
    const refused = async (body: object) => (await ada.ask('POST', '/api/webhooks', body)).body.error as string;
    assert.match(await refused({ url: 'ftp://x.test', events: ['run.finished'] }), /^url must be/);
    assert.match(await refused({ url: 'nowhere', events: ['run.finished'] }), /^url must be/);
    assert.match(await refused({ url, events: [] }), /^events must name/);
    assert.match(await refused({ url, events: ['run.begun'] }), /^events must name/);
    for (let n = 0; n < 20; n += 1) await hook(ada, ['run.finished']);
    const made = await ada.ask('POST', '/api/webhooks', { url, events: ['run.finished'] });
    assert.deepEqual([made.status, made.body.error], [429, 'Too many webhooks (max 20)']);
  });

  test('that is switched off is told nothing, and one that takes nothing not for ever', async () => {
    const { id } = await hook(ada, ['notice.raised']);
    assert.equal((await ada.ask('PATCH', `/api/webhooks/${id}`, { enabled: false })).status, 200);
    await raise(ada, 'off');
    assert.deepEqual(await log(ada, id), []);
    await ada.ask('PATCH', `/api/webhooks/${id}`, { enabled: true });
    const waiting = Array.from({ length: 1000 }, (_, n) => ({
      id: `msg_${id}_${n}`,
      endpoint_id: id,
      user_id: ada.id,
      type: 'notice.raised',
      data: '{}',
      at: new Date(),
      queued_at: new Date(),
    }));
    await web.deps.db.system.insertInto('webhook_deliveries').values(waiting).execute();
    await raise(ada, 'too many');
    const rows = await web.deps.db.system
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('endpoint_id', '=', id)
      .execute();
    assert.equal(rows.length, 1000);
  });
});

test('what a process wrote down and did not take up is taken up by the next one', async () => {
  const { id, secret } = await hook(ada, ['notice.raised']);
  // As it is when the process died between the two, and nobody hears the signal.
  await web.deps.db.system
    .insertInto('webhook_deliveries')
    .values({ id: 'msg_left', endpoint_id: id, user_id: ada.id, type: 'notice.raised', data: '{}', at: new Date() })
    .execute();
  await raise(ada, 'wakes it');
  await until(() => (told.length >= 2 ? true : undefined));
  assert.ok(told.map((one) => verified(secret, one)).length >= 2);
  assert.ok(told.some(({ headers }) => headers['webhook-id'] === 'msg_left'));
});
