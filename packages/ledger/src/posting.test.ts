import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createDatabase, type Database } from '@troupe/db';
import { AppError, randomHex, silentLog, systemClock } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { createLedger } from './ledger.ts';
import type { Done, Entry, Posting } from './posting.ts';
import { verifyLedger } from './verify.ts';

/** What is posted at the same moment and outside of any transaction: carried together, each with its own result. */

let database: TestDatabase;
let db: Database;
const ledger = createLedger({ clock: systemClock });
before(async () => {
  database = await testDatabase({ poolSize: 8 });
  ({ db } = database);
});
after(() => database.drop());

const ACCOUNTS = ['a', 'b', 'c', 'd'] as const;
const FUNDS = 50n;

const posting = (key: string, ...entries: [string, bigint][]): Posting => ({
  key,
  kind: 'test',
  entries: entries.map(([account, amount]) => ({ account, amount })),
});
const move = (key: string, from: string, to: string, amount: bigint): Posting =>
  posting(key, [from, -amount], [to, amount]);

const together = (given: Posting, where = db): Promise<Done> => ledger.post(where.system, given);
const byItself = (given: Posting): Promise<Done> => db.asSystem((tx) => ledger.post(tx, given));
const balanceOf = async (account: string) => (await ledger.balance(db.system, account)).balance;
const intact = async () =>
  assert.deepEqual(
    (await verifyLedger(db.system)).filter(({ broken }) => broken.length > 0),
    [],
  );

/** A prefix under which there are a source and four accounts with money. */
async function world(funds = FUNDS): Promise<string> {
  const w = `${randomHex(6)}:`;
  await db.asSystem(async (tx) => {
    await ledger.open(tx, [
      { id: `${w}source`, asset: 'USD', allowNegative: true },
      { id: `${w}play`, asset: 'PLAY', allowNegative: true },
      { id: `${w}0fees`, asset: 'USD' },
      ...ACCOUNTS.map((name) => ({ id: w + name, asset: 'USD' })),
    ]);
    for (const name of ACCOUNTS) await ledger.post(tx, move(`${w}open:${name}`, `${w}source`, w + name, funds));
  });
  return w;
}

/** The transactions of the database that stored the postings whose keys begin so. */
async function stored(w: string): Promise<{ keys: string[]; transactions: number }> {
  const { rows } = await sql<{ key: string; by: string }>`select idempotency_key as key, xmin::text as by
    from ledger_transactions where starts_with(idempotency_key, ${w}) order by 1`.execute(db.system);
  return { keys: rows.map(({ key }) => key), transactions: new Set(rows.map(({ by }) => by)).size };
}

/** What a caller can tell of it. */
const told = (error: unknown) => {
  const { name, message, status, code } = error as { name: string; message: string; status?: number; code?: string };
  return { name, message, status, code };
};

async function refusal(work: Promise<unknown>) {
  try {
    await work;
  } catch (error) {
    return told(error);
  }
  assert.fail('it was not refused');
}

test('what is posted at once is one transaction of the database, and each has its own', async () => {
  const w = await world();
  const given = Array.from({ length: 20 }, (_, n) => move(`${w}t${n}`, `${w}a`, `${w}b`, 1n));
  const done = await Promise.all(given.map((one) => together(one)));
  assert.equal(new Set(done.map(({ id }) => id)).size, 20);
  assert.equal((await stored(`${w}t`)).transactions, 1);
  assert.deepEqual([await balanceOf(`${w}a`), await balanceOf(`${w}b`)], [30n, 70n]);
  const newest = await ledger.entries(db.system, `${w}a`, 20);
  assert.deepEqual(
    newest.map(({ balanceAfter }) => balanceAfter),
    Array.from({ length: 20 }, (_, n) => 30n + BigInt(n)),
  );
  assert.deepEqual(
    await Promise.all(given.map((one) => together(one))),
    done.map(({ id }) => ({ id, replayed: true })),
  );
  await intact();
});

test('a transaction carries so many, the next one the others', async () => {
  const w = await world(1000n);
  await Promise.all(Array.from({ length: 150 }, (_, n) => together(move(`${w}t${n}`, `${w}a`, `${w}b`, 1n))));
  assert.equal((await stored(`${w}t`)).transactions, 3);
  assert.equal(await balanceOf(`${w}b`), 1150n);
});

describe('what is refused fails alone, with the error that it has by itself', () => {
  const bad: Record<string, (w: string) => Posting> = {
    'not enough money': (w) => move(`${w}bad`, `${w}a`, `${w}b`, FUNDS + 1n),
    'an account that is not there': (w) => move(`${w}bad`, `${w}a`, `${w}nobody`, 1n),
    'nothing there and not enough money': (w) => move(`${w}bad`, `${w}nobody`, `${w}a`, FUNDS + 1n),
    'not balanced': (w) => posting(`${w}bad`, [`${w}a`, -1n], [`${w}b`, 2n]),
    'two assets': (w) => posting(`${w}bad`, [`${w}play`, -1n], [`${w}b`, 1n]),
    'a key that was used for another request': (w) => move(`${w}open:a`, `${w}a`, `${w}b`, 1n),
    'a text that no column takes': (w) => move(`${w}bad\0`, `${w}a`, `${w}b`, 1n),
    'more than a number holds': (w) => move(`${w}bad`, `${w}source`, `${w}b`, 2n ** 63n - 1n),
    'more than any number': (w) => move(`${w}bad`, `${w}source`, `${w}b`, 2n ** 70n),
  };
  // The number of a transaction and of a place in the statement differ from try to try.
  const asOne = (error: ReturnType<typeof told>, w: string) => ({
    ...error,
    message: error.message.replaceAll(w, '').replaceAll(/transaction \d+/g, 'transaction'),
  });

  for (const [name, make] of Object.entries(bad))
    test(name, async () => {
      const [w, other] = [await world(), await world()];
      const good = (n: number) => together(move(`${w}good${n}`, `${w}c`, `${w}d`, 1n));
      const [, refused] = await Promise.all([good(1), refusal(together(make(w))), good(2)]);
      assert.deepEqual(asOne(refused, w), asOne(await refusal(byItself(make(other))), other));
      assert.deepEqual((await stored(`${w}good`)).keys, [`${w}good1`, `${w}good2`]);
      assert.deepEqual((await stored(`${w}bad`)).keys, []);
      assert.deepEqual([await balanceOf(`${w}a`), await balanceOf(`${w}d`)], [FUNDS, FUNDS + 2n]);
      await intact();
    });

  test('and a posting of one entry, or of none that moves, is what it was', async () => {
    const w = await world();
    await assert.rejects(together(posting(`${w}one`, [`${w}a`, 1n])), /at least two entries/);
    const merged = posting(`${w}merged`, [`${w}a`, -5n], [`${w}b`, 2n], [`${w}b`, 3n]);
    await together(merged);
    assert.equal((await byItself(merged)).replayed, true);
    assert.equal(await balanceOf(`${w}b`), FUNDS + 5n);
  });
});

describe('a transaction of the caller', () => {
  test('keeps what is posted in it: it goes when that goes', async () => {
    const w = await world();
    await assert.rejects(
      db.asSystem(async (tx) => {
        await ledger.post(tx, move(`${w}t`, `${w}a`, `${w}b`, 1n));
        throw new Error('changed my mind');
      }),
      /changed my mind/,
    );
    assert.deepEqual((await stored(`${w}t`)).keys, []);
  });

  test('takes none that should be by itself, and those of others are carried', async () => {
    const w = await world();
    const inside = db.asSystem(async (tx) => {
      await ledger.post(tx, move(`${w}first`, `${w}a`, `${w}b`, 1n));
      await together(move(`${w}second`, `${w}a`, `${w}b`, 1n));
    });
    await Promise.all([assert.rejects(inside, /already open here/), together(move(`${w}third`, `${w}c`, `${w}d`, 1n))]);
    assert.deepEqual((await stored(w)).keys.slice(-1), [`${w}third`]);
  });

  test('that holds an account for long holds up nobody who does not need it', async () => {
    const w = await world();
    const letGo = await hold(`${w}a`);
    const waits = together(move(`${w}waits`, `${w}a`, `${w}b`, 1n));
    await together(move(`${w}goes`, `${w}c`, `${w}d`, 1n));
    const joins = together(move(`${w}joins`, `${w}b`, `${w}a`, 1n));
    await together(move(`${w}too`, `${w}c`, `${w}d`, 1n));
    assert.deepEqual(
      (await stored(w)).keys.filter((key) => !key.includes('open')),
      [`${w}goes`, `${w}too`],
    );
    await Promise.all([letGo(), waits, joins]);
    await intact();
  });

  test('that waits for an account holds no key, and by that nobody who has the account', async () => {
    const w = await world();
    const letGo = await hold(`${w}a`);
    const waits = byItself(move(`${w}t`, `${w}a`, `${w}b`, 1n));
    await untilWaiting();
    assert.equal((await byItself(move(`${w}t`, `${w}c`, `${w}d`, 1n))).replayed, false);
    await Promise.all([letGo(), assert.rejects(waits, { status: 409 })]);
    assert.equal(await balanceOf(`${w}a`), FUNDS);
    await intact();
  });
});

/** Somebody who has an account until they are told to let go of it. */
async function hold(account: string): Promise<() => Promise<void>> {
  const [held, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = db.asSystem(async (tx) => {
    await ledger.spread(tx, [account], 1n);
    held.resolve();
    await go.promise;
  });
  await Promise.race([held.promise, holder]);
  return () => {
    go.resolve();
    return holder;
  };
}

/** Until somebody waits for somebody else's lock. */
async function untilWaiting(): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from pg_locks waiting
      where not granted and exists (select from pg_locks here join pg_database d on d.oid = here.database
        where here.pid = waiting.pid and d.datname = current_database())`.execute(db.system);
    if (rows.length > 0) return;
    await delay(10);
  }
}

/** Any posting of a world. All that move take a fee, and by that go one way, in the order in which they were posted. */
const anyPosting = fc.record({
  from: fc.constantFrom(...ACCOUNTS),
  to: fc.constantFrom(...ACCOUNTS, 'source'),
  amount: fc.bigInt({ min: 1n, max: 60n }),
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant('plain') },
    { weight: 1, arbitrary: fc.constantFrom('unknown', 'unbalanced', 'assets', 'replay', 'other') },
  ),
});
type Any = typeof anyPosting extends fc.Arbitrary<infer T> ? T : never;

/** One of each kind, and one for which there is too little. */
const EACH: Any[] = [
  ...(['plain', 'unknown', 'unbalanced', 'assets', 'replay', 'other'] as const).map((kind): Any => ({
    from: 'a',
    to: 'b',
    amount: 1n,
    kind,
  })),
  { from: 'a', to: 'b', amount: 60n, kind: 'plain' },
];

function made(w: string, { from, to, amount, kind }: Any, key: string): Posting {
  const target = to === from ? 'source' : to;
  // What has two faults is told of one of them, which depends on what was before it.
  if (kind === 'unknown') return move(key, `${w}source`, `${w}nobody`, amount);
  if (kind === 'unbalanced') return posting(key, [`${w}source`, -amount], [w + from, amount + 1n]);
  if (kind === 'assets') return posting(key, [`${w}source`, -amount], [`${w}play`, amount]);
  if (kind === 'replay') return move(`${w}open:${from}`, `${w}source`, w + from, FUNDS);
  if (kind === 'other') return move(`${w}open:${from}`, w + from, w + target, amount);
  return posting(key, [w + from, -amount - 1n], [w + target, amount], [`${w}0fees`, 1n]);
}

const result = async (work: Promise<Done>) => {
  try {
    return (await work).replayed ? 'replayed' : 'new';
  } catch (error) {
    const { message, status, code } = told(error);
    return `${status} ${code} ${message.replaceAll(/[0-9a-f]{12}:/g, '').replaceAll(/transaction \d+/g, '')}`;
  }
};

test('many at once, some of them refused, end as one after the other', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(anyPosting, { minLength: 2, maxLength: 100 }), async (steps) => {
      const [w, other] = [await world(), await world()];
      const atOnce = await Promise.all(steps.map((step, n) => result(together(made(w, step, `${w}t${n}`)))));
      const inTurn: string[] = [];
      for (const [n, step] of steps.entries()) inTurn.push(await result(byItself(made(other, step, `${other}t${n}`))));
      assert.deepEqual(atOnce, inTurn);
      for (const name of [...ACCOUNTS, '0fees']) assert.equal(await balanceOf(w + name), await balanceOf(other + name));
      for (const one of atOnce) seen.add(one);
    }),
    { numRuns: 20, endOnFailure: true, examples: [[EACH]] },
  );
  await intact();
  assert.ok(seen.size >= 6, `only ${[...seen].join(', ')} ever came about`);
});

/** What stands in the ledger under a key, as its posting says it. */
async function entriesOf(key: string): Promise<Entry[][]> {
  const { rows } = await sql<{
    id: bigint;
    account: string;
    amount: bigint;
  }>`select t.id, e.account_id as account, e.amount
    from ledger_transactions t join ledger_entries e on e.transaction_id = t.id where t.idempotency_key = ${key}
    order by e.id`.execute(db.system);
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((all) =>
    all.map(({ account, amount }) => ({ account, amount })),
  );
}

const sorted = (entries: readonly Entry[]) => entries.toSorted((a, b) => (a.account < b.account ? -1 : 1));

test('two processes with the same keys, beside holds and captures: each is done once, and none waits for ever', async () => {
  const second = createDatabase({ url: database.url, log: silentLog, poolSize: 8 });
  const secondLedger = createLedger({ clock: systemClock });
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(anyPosting, { minLength: 10, maxLength: 80 }), async (steps) => {
        const w = await world();
        const key = (n: number) => `${w}t${n % 20}`;
        const both = steps.flatMap((step, n) => {
          const given = made(w, { ...step, kind: 'plain' }, key(n));
          const posts = [together(given), secondLedger.post(second.system, given)];
          return posts.map((work) => work.then((done) => ({ given, done }), refusedOnly));
        });
        const holding = ACCOUNTS.map((name, n) => holdAndCapture(w, name, ACCOUNTS[(n + 1) % 4]!));
        const results = (await Promise.all(both)).filter((one) => one !== undefined);
        await Promise.all(holding);
        await intact();
        for (const [of, all] of Map.groupBy(results, ({ given }) => given.key)) {
          assert.equal(all.filter(({ done }) => !done.replayed).length, 1, of);
          for (const { given } of all) assert.deepEqual((await entriesOf(of)).map(sorted), [sorted(given.entries)]);
        }
        assert.deepEqual((await stored(`${w}t`)).keys, [...new Set(results.map(({ given }) => given.key))].toSorted());
      }),
      // What two processes do at once is not the same again: to look for less that fails only hides what failed.
      { numRuns: 12, endOnFailure: true },
    );
  } finally {
    await second.close();
  }
});

/** Too little money, or the key of another: nothing else may be said. */
function refusedOnly(error: unknown): undefined {
  if (!(error instanceof AppError) || ![402, 409].includes(error.status)) throw error;
}

/** In transactions of the caller, which take the same accounts. */
async function holdAndCapture(w: string, from: string, to: string): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    const hold = { key: `${w}h${from}${n}`, account: w + from, amount: 5n };
    const held = await db.asSystem((tx) => ledger.hold(tx, hold)).catch(refusedOnly);
    if (!held) continue;
    await db.asSystem((tx) => ledger.capture(tx, held.id, 3n, move(`${w}c${from}${n}`, w + from, w + to, 3n)));
    await db.asSystem((tx) => ledger.release(tx, held.id));
  }
}
