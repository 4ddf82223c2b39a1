import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { AppError, systemClock } from '@troupe/kernel';
import { sql } from 'kysely';
import { createLedger } from './ledger.ts';
import type { Posting } from './posting.ts';
import { verifyLedger } from './verify.ts';

let database: TestDatabase;
const ledger = createLedger({ clock: systemClock });
before(async () => {
  database = await testDatabase({ poolSize: 8 });
});
after(() => database.drop());

const inTx = <T>(work: Parameters<typeof database.db.asSystem<T>>[0]) => database.db.asSystem(work);
const post = (posting: Posting) => inTx((tx) => ledger.post(tx, posting));
const balanceOf = (account: string) => ledger.balance(database.db.system, account);
const intact = async () =>
  assert.deepEqual(
    (await verifyLedger(database.db.system)).filter(({ broken }) => broken.length > 0),
    [],
  );

let numbers = 0;
/** Fresh accounts: a source that may go below zero, and two with the given balance. */
async function accounts(balance = 100n) {
  const n = (numbers += 1);
  const [source, a, b] = [`source${n}`, `a${n}`, `b${n}`];
  await inTx(async (tx) => {
    await ledger.open(tx, [
      { id: source, asset: 'USD', allowNegative: true },
      { id: a, asset: 'USD' },
      { id: b, asset: 'USD' },
    ]);
    for (const account of [a, b])
      if (balance > 0n)
        await ledger.post(tx, {
          key: `open:${account}`,
          kind: 'open',
          entries: [
            { account: source, amount: -balance },
            { account, amount: balance },
          ],
        });
  });
  return {
    source,
    a,
    b,
    transfer: (key: string, amount: bigint) => ({
      key: `${n}:${key}`,
      kind: 'transfer',
      entries: [
        { account: a, amount: -amount },
        { account: b, amount },
      ],
    }),
  };
}

test('money moves, and both sides are told', async () => {
  const { a, b, transfer } = await accounts();
  await post(transfer('t', 30n));
  assert.deepEqual([(await balanceOf(a)).balance, (await balanceOf(b)).balance], [70n, 130n]);
  const [newest] = await ledger.entries(database.db.system, a, 1);
  assert.deepEqual([newest?.amount, newest?.balanceAfter, newest?.kind], [-30n, 70n, 'transfer']);
});

test('the same key answers as the first time; with another request it is an error', async () => {
  const { a, transfer } = await accounts();
  const first = await post(transfer('t', 30n));
  const again = await post(transfer('t', 30n));
  assert.deepEqual(again, { id: first.id, replayed: true });
  assert.equal((await balanceOf(a)).balance, 70n);
  await assert.rejects(post(transfer('t', 31n)), { status: 409 });
});

test('twenty at once with one key happen once', async () => {
  const { a, transfer } = await accounts();
  await Promise.all(Array.from({ length: 20 }, () => post(transfer('t', 30n))));
  assert.equal((await balanceOf(a)).balance, 70n);
});

test('nobody spends what is not there, also at once', async () => {
  const { a, transfer } = await accounts(70n);
  const results = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => post(transfer(`t${n}`, 10n))));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 7);
  assert.equal((await balanceOf(a)).balance, 0n);
  await intact();
});

test('a transaction that does not balance is refused by the database', async () => {
  const { a, b } = await accounts();
  await assert.rejects(
    post({
      key: 'unbalanced',
      kind: 'x',
      entries: [
        { account: a, amount: -1n },
        { account: b, amount: 2n },
      ],
    }),
    /not balanced/,
  );
  await intact();
});

test('assets do not mix', async () => {
  const { a } = await accounts();
  await inTx((tx) => ledger.open(tx, [{ id: 'play', asset: 'PLAY', allowNegative: true }]));
  await assert.rejects(
    post({
      key: 'mix',
      kind: 'x',
      entries: [
        { account: 'play', amount: -5n },
        { account: a, amount: 5n },
      ],
    }),
    /not balanced/,
  );
});

test('an unknown account is an error, and nothing is left behind', async () => {
  const { a } = await accounts();
  await assert.rejects(
    post({
      key: 'unknown',
      kind: 'x',
      entries: [
        { account: a, amount: -5n },
        { account: 'nobody', amount: 5n },
      ],
    }),
    /does not exist/,
  );
  await intact();
});

test('entries and transactions cannot be changed or deleted', async () => {
  const { transfer } = await accounts();
  await post(transfer('t', 1n));
  for (const change of [
    sql`update ledger_entries set amount = 5`,
    sql`delete from ledger_entries`,
    sql`delete from ledger_transactions`,
    sql`delete from ledger_accounts`,
    sql`update ledger_accounts set id = id || '2'`,
  ])
    await assert.rejects(change.execute(database.db.system), /append-only/);
});

test('an entry of a transaction or an account that is not there is refused by the database, also among others', async () => {
  const { a, b, transfer } = await accounts();
  const { id } = await post(transfer('t', 1n));
  const add = (transaction: bigint, first: string, second: string) =>
    sql`insert into ledger_entries (transaction_id, account_id, amount, balance_after, created_at)
      values (${id}, ${a}, -1, 0, now()), (${id}, ${b}, 1, 0, now()),
        (${transaction}, ${first}, -1, 0, now()), (${transaction}, ${second}, 1, 0, now())`.execute(database.db.system);
  await assert.rejects(add(id + 1000n, a, b), { code: 'LG001' });
  await assert.rejects(add(id, 'nobody', 'nobody'), { code: 'LG001' });
  await assert.rejects(add(id, a, 'nobody'), { code: 'LG001' });
  await intact();
});

test('a hold is promised, captured in parts, and the rest comes back', async () => {
  const { a, b } = await accounts();
  const { id } = await inTx((tx) => ledger.hold(tx, { key: `h:${a}`, account: a, amount: 60n }));
  assert.deepEqual(await balanceOf(a), { balance: 100n, held: 60n, available: 40n });
  const part = (key: string, amount: bigint) =>
    inTx((tx) =>
      ledger.capture(tx, id, amount, {
        key: `${a}:${key}`,
        kind: 'capture',
        entries: [
          { account: a, amount: -amount },
          { account: b, amount },
        ],
      }),
    );
  await part('1', 25n);
  assert.equal((await part('1', 25n)).replayed, true);
  assert.deepEqual(await balanceOf(a), { balance: 75n, held: 35n, available: 40n });
  await assert.rejects(part('2', 36n));
  assert.equal(await inTx((tx) => ledger.release(tx, id)), 35n);
  assert.equal(await inTx((tx) => ledger.release(tx, id)), 0n);
  await assert.rejects(part('3', 1n), /not pending/);
  assert.deepEqual(
    [await balanceOf(a), (await balanceOf(b)).balance],
    [{ balance: 75n, held: 0n, available: 75n }, 125n],
  );
  await intact();
});

test('twenty captures at once with one key draw once, and transfers the other way do not block them', async () => {
  const { a, b, transfer } = await accounts();
  const { id } = await inTx((tx) => ledger.hold(tx, { key: `h:${a}`, account: b, amount: 60n }));
  const capture = () =>
    inTx((tx) =>
      ledger.capture(tx, id, 10n, {
        key: `${a}:once`,
        kind: 'capture',
        entries: [
          { account: b, amount: -10n },
          { account: a, amount: 10n },
        ],
      }),
    );
  await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? capture() : post(transfer(`t${n}`, 1n)))));
  assert.deepEqual(await balanceOf(b), { balance: 100n, held: 50n, available: 50n });
  await intact();
});

test('what is held cannot be spent or held again', async () => {
  const { a, transfer } = await accounts();
  const hold = (key: string, amount: bigint) =>
    inTx((tx) => ledger.hold(tx, { key: `${a}${key}`, account: a, amount }));
  await hold('1', 60n);
  await assert.rejects(post(transfer('t', 41n)), { status: 402, message: 'Insufficient balance' });
  await assert.rejects(hold('2', 41n), { status: 402 });
  assert.equal((await hold('1', 60n)).replayed, true);
});

test('random work by many at once leaves every invariant true', async () => {
  const done = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          kind: fc.constantFrom('post', 'back', 'hold', 'release', 'capture'),
          amount: fc.bigInt({ min: 1n, max: 60n }),
          key: fc.integer({ min: 0, max: 5 }),
        }),
        { minLength: 5, maxLength: 30 },
      ),
      fc.integer({ min: 1, max: 5 }),
      async (steps, width) => {
        const { a, b, transfer } = await accounts();
        const holds: bigint[] = [];
        const run = async ({ kind, amount, key }: (typeof steps)[number], index: number) => {
          if (kind === 'post') return post(transfer(`p${key}`, amount));
          if (kind === 'back')
            return post({
              key: `${a}:back${index}`,
              kind: 'back',
              entries: [
                { account: b, amount: -amount },
                { account: a, amount },
              ],
            });
          if (kind === 'hold')
            return holds.push((await inTx((tx) => ledger.hold(tx, { key: `${a}:h${index}`, account: a, amount }))).id);
          const hold = holds.at(key % Math.max(holds.length, 1));
          if (hold === undefined) return;
          if (kind === 'release') return inTx((tx) => ledger.release(tx, hold));
          return inTx((tx) =>
            ledger.capture(tx, hold, amount, {
              key: `${a}:c${index}`,
              kind: 'capture',
              entries: [
                { account: a, amount: -amount },
                { account: b, amount },
              ],
            }),
          );
        };
        // A few at once, each taking the next step: later ones find the holds of earlier ones.
        const queue = steps.entries();
        const worker = async () => {
          for (const [index, step] of queue)
            await run(step, index).then(
              () => done.add(step.kind),
              (error: unknown) => {
                if (!(error instanceof AppError) && !/is not pending|remaining_check/.test(String(error))) throw error;
              },
            );
        };
        await Promise.all(Array.from({ length: width }, worker));
        await intact();
        assert.equal((await balanceOf(a)).balance + (await balanceOf(b)).balance, 200n);
      },
    ),
    { numRuns: 15 },
  );
  assert.equal(done.size, 5, `only ${[...done].join(', ')} ever worked`);
});

test('the check finds what is broken', async () => {
  const other = await testDatabase();
  await other.db.asSystem((tx) => ledger.open(tx, [{ id: 'x', asset: 'USD' }]));
  await sql`update ledger_accounts set balance = 5`.execute(other.db.system);
  const broken = (await verifyLedger(other.db.system))
    .filter(({ broken: found }) => found.length > 0)
    .map(({ invariant }) => invariant);
  assert.deepEqual(broken, ['all accounts of an asset sum to zero', 'a balance is the sum of its entries']);
  await other.drop();
});
