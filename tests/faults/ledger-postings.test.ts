import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { silentLog, systemClock } from '@troupe/kernel';
import { createDatabase } from '@troupe/db';
import { createLedger, USD, verifyLedger } from '@troupe/ledger';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';

/** Processes that post to the same two accounts, many at once, and are killed in the middle of it. */

const WRITERS = 24;
const ROUNDS = 4;
const CHILD = path.join(import.meta.dirname, 'ledger-postings.inside.ts');
const ledger = createLedger({ clock: systemClock });
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  await database.db.asSystem((tx) =>
    ledger.open(tx, [
      { id: 'source', asset: USD, allowNegative: true },
      { id: 'sink', asset: USD },
    ]),
  );
});
after(() => database.drop());

interface Poster {
  name: string;
  child: ChildProcess;
  /** Those that it knows to be done. */
  done: Set<number>;
  /** Settles when so many more are. */
  more: (count: number) => Promise<void>;
}

const running: Poster[] = [];

function start(name: string): Poster {
  const args = [CHILD, database.url, name, String(WRITERS), 'source', 'sink'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const done = new Set<number>();
  let waiting: { size: number; resolve: () => void } | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    done.add(Number(line));
    if (waiting && done.size >= waiting.size) waiting.resolve();
  });
  const more = (count: number) =>
    new Promise<void>((resolve, reject) => {
      waiting = { size: done.size + count, resolve };
      child.once('exit', () => reject(new Error(`${name} ended by itself`)));
    });
  const poster = { name, child, done, more };
  running.push(poster);
  return poster;
}

async function kill({ child }: Poster): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

/** Every connection but our own, wherever it stands in its work. */
async function cutAll(): Promise<void> {
  const login = new pg.Client({ connectionString: database.url });
  await login.connect();
  await login.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'troupe'`);
  await login.end();
}

test('what was acknowledged is there once, and what was not can be asked for again', { timeout: 120_000 }, async () => {
  const all: Poster[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const pair = [start(`a${round}`), start(`b${round}`)];
      all.push(...pair);
      await Promise.all(pair.map(({ more }) => more(100)));
      await cutAll();
      await Promise.all(pair.map(({ more }) => more(100)));
      for (const poster of pair) await kill(poster);
    }
  } finally {
    for (const { child } of running) child.kill('SIGKILL');
  }
  // A connection of its own: those of the pool were cut, too.
  const db = createDatabase({ url: database.url, log: silentLog });
  const broken = async () => (await verifyLedger(db.system)).filter((one) => one.broken.length > 0);
  assert.deepEqual(await broken(), []);
  const stored = await db.system.selectFrom('ledger_transactions').select('idempotency_key as key').execute();
  const keys = new Set(stored.map(({ key }) => key));
  assert.equal(keys.size, stored.length);
  const asked = new Set<string>();
  for (const { name, done } of all) {
    for (const number of done) assert.ok(keys.has(`${name}:${number}`), `${name}:${number} was acknowledged`);
    const last = Math.max(...done) + WRITERS;
    for (let number = 0; number <= last; number += 1) asked.add(`${name}:${number}`);
  }
  assert.deepEqual(
    [...keys].filter((key) => !asked.has(key)),
    [],
  );
  const entries = [
    { account: 'source', amount: -1n },
    { account: 'sink', amount: 1n },
  ];
  const again = await Promise.all([...asked].map((key) => ledger.post(db.system, { key, kind: 'fault', entries })));
  assert.equal(again.filter(({ replayed }) => replayed).length, keys.size);
  assert.equal((await ledger.balance(db.system, 'sink')).balance, BigInt(asked.size));
  assert.deepEqual(await broken(), []);
  await db.close();
});
