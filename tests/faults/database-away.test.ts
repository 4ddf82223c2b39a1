import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** A database that cannot answer for now is no fault of a request: 503 and when to come again, never a 500. */
let services: Services;
let ada: Person;
let owner: pg.Client;
let database: string;
before(async () => {
  services = await startServices();
  ada = await person(services, { plan: 'network' });
  const url = new URL(services.runtime.databaseUrl);
  database = url.pathname.slice(1);
  url.pathname = '/postgres';
  owner = new pg.Client({ connectionString: url.href });
  await owner.connect();
});
after(async () => {
  await owner.end();
  await services.stop();
});

const makeKey = (): Promise<Response> =>
  fetch(`${services.web}/api/keys`, {
    method: 'POST',
    headers: { ...ada.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'laptop' }),
  });

/** The first may still meet a connection that was just cut, of which nobody knows what it did: it says so. */
const broke = async (answer: Response): Promise<boolean> =>
  (await answer.clone().text()).includes('The connection to the database broke. Look whether this was done');

async function refused(): Promise<void> {
  const first = await makeKey();
  assert.equal(first.status, 503, await first.clone().text());
  const answer = (await broke(first)) ? await makeKey() : first;
  assert.equal(answer.status, 503, await answer.clone().text());
  assert.equal(answer.headers.get('retry-after'), '2');
  const { error } = (await answer.json()) as { error: string };
  assert.equal(error, 'The database does not answer at the moment. Try again in a few seconds.');
}
/** Changes the database, and ends the connections that were made before. */
async function alter(change: string): Promise<void> {
  await owner.query(`alter database ${database} ${change}`);
  // The server's own workers, which clean up there, are nobody's to end.
  const sent = "datname = $1 and backend_type = 'client backend'";
  await owner.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${sent}`, [database]);
}

async function comesBack(): Promise<void> {
  const first = await makeKey();
  assert.equal((first.status === 201 ? first : await makeKey()).status, 201);
}

test('read-only, as after a fail-over', async () => {
  await alter('set default_transaction_read_only = on');
  await refused();
  await alter('reset default_transaction_read_only');
  await comesBack();
});

test('no connection is left', async () => {
  await alter('allow_connections false');
  await refused();
  await alter('allow_connections true');
  await comesBack();
});

test('locked for longer than it waits', async () => {
  await alter(`set lock_timeout = '300ms'`);
  const holder = new pg.Client({ connectionString: services.runtime.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table api_keys in exclusive mode');
  await refused();
  await holder.query('rollback');
  await holder.end();
  await alter('reset lock_timeout');
  await comesBack();
});

test('an agent that cannot store what it is told says so in the shape that its clients expect', async () => {
  const agentId = await provisioned(ada);
  const chat = () =>
    fetch(`${services.backend}/api/runtime/proxy/${agentId}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...ada.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] }),
    });
  assert.equal((await chat()).status, 200);
  await alter('set default_transaction_read_only = on');
  const first = await chat();
  assert.equal(first.status, 503, await first.clone().text());
  const answer = (await broke(first)) ? await chat() : first;
  const text = await answer.text();
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '2'], text);
  const { error } = JSON.parse(text) as { error: { message: string } };
  assert.equal(error.message, 'The database does not answer at the moment. Try again in a few seconds.');
  await alter('reset default_transaction_read_only');
  await comesBack();
});
