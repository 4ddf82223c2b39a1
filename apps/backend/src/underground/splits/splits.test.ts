import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatAmount } from '@troupe/domain';
import { owedAccount } from '@troupe/ledger';
import fc from 'fast-check';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createHolders } from '../money-testing.ts';
import { startUnderground, type Person } from '../testing.ts';

const world = await startUnderground();
const { party, intact } = createHolders(world);
after(() => world.stop());

const SPLITS = '/api/underground/splits';
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;
const split = (owner: { person: Person; agentId: string }, given: object, headers = {}) =>
  world.ask('POST', SPLITS, owner.person, { agentId: owner.agentId, name: 'Royalties', ...given }, headers);
const owed = async (address: string) =>
  (await world.ledger.balance(world.runtime.db.system, owedAccount(address).id)).balance;

test('thirds of 100 sum to 100, and are owed in the ledger', async () => {
  const owner = await party();
  const recipients = [33.33, 33.33, 33.33].map((share) => ({ address: newAddress(), share }));
  const { status, body } = await split(owner, { totalAmount: '100', recipients });
  assert.deepEqual([status, body.success, body.status, body.payout], [200, true, 'completed', 'accrued']);
  const amounts = await Promise.all(recipients.map(({ address }) => owed(address)));
  assert.deepEqual(amounts, [33_333_334n, 33_333_333n, 33_333_333n]);
  assert.deepEqual(
    body.recipients.map(({ amount, status: part }: { amount: string; status: string }) => [amount, part]),
    amounts.map((units) => [formatAmount(units, 6), 'accrued']),
  );
  const listed = (await world.ask('GET', SPLITS, owner.person)).body;
  assert.deepEqual([listed.count, listed.splits[0]], [1, body]);
  await intact();
});

test('the edge of the tolerance is exact', async () => {
  const owner = await party();
  const of = (...shares: number[]) =>
    split(owner, { totalAmount: '1', recipients: shares.map((share) => ({ address: newAddress(), share })) });
  for (const shares of [[99.99], [50, 50.01], [33.34, 33.33, 33.34], [100]])
    assert.equal((await of(...shares)).status, 200, String(shares));
  for (const [shares, sum] of [
    [[99.98], '99.98'],
    [[33.33, 33.33, 33.32], '99.98'],
    [[50, 50.02], '100.02'],
    [[0.1, 0.2], '0.3'],
  ] as const)
    assert.deepEqual(await of(...shares), {
      status: 400,
      body: { error: `Recipient shares must total 100% (got ${sum}%)` },
    });
});

test('400 for what is no split', async () => {
  const owner = await party();
  const good = { address: newAddress(), share: 100 };
  const [lower, upper] = [good.address.toLowerCase(), `0x${good.address.slice(2).toUpperCase()}`];
  const wrongCase = good.address.replace(/[a-f]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const refused: [object, string?][] = [
    [{ recipients: [] }, 'recipients required'],
    [{ recipients: undefined }, 'recipients required'],
    [{ recipients: 'x' }, 'recipients required'],
    [{ agentId: undefined }, 'agentId required'],
    [{ recipients: Array.from({ length: 1001 }, () => ({ ...good, share: 0.1 })) }],
    [{ name: '' }],
    ...['0', '-1', 'NaN', 'Infinity', '1e21', '0.0000001', '1,5', ' 1', 100, '', null].map(
      (totalAmount): [object, string] => [{ totalAmount }, 'Invalid totalAmount'],
    ),
    ...[
      '0x12',
      good.address.slice(2),
      `${good.address}0`,
      wrongCase,
      '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
      7,
    ].map((address): [object, string] => [{ recipients: [{ ...good, address }] }, 'Invalid recipient address']),
    ...[0, -5, 100.5, '100', 1e-9].map((share): [object, string] => [
      { recipients: [{ ...good, share }] },
      'Invalid share',
    ]),
  ];
  for (const [given, error] of refused) {
    const { status, body } = await split(owner, { totalAmount: '10', recipients: [good], ...given });
    assert.equal(status, 400, JSON.stringify(given).slice(0, 200));
    if (error) assert.equal(body.error, error);
  }
  for (const address of [lower, upper])
    assert.equal((await split(owner, { totalAmount: '10', recipients: [{ address, share: 100 }] })).status, 200);
  assert.equal(await owed(lower), 20_000_000n);
});

test('a hundred recipients, more of them than millionths', async () => {
  const owner = await party();
  const [first, second] = [newAddress(), newAddress()];
  const recipients = Array.from({ length: 100 }, (_, n) => ({ address: n % 2 ? first : second, share: 1 }));
  const { body } = await split(owner, { totalAmount: '0.000099', recipients });
  assert.equal(body.recipients.length, 100);
  assert.equal((await owed(first)) + (await owed(second)), 99n);
  await intact();
});

test('the same key splits once, at once too; with another request it is refused', async () => {
  const owner = await party();
  const address = newAddress();
  const given = { totalAmount: '5', recipients: [{ address, share: 100 }] };
  const key = { 'idempotency-key': 'split-1' };
  const answers = await Promise.all(Array.from({ length: 5 }, () => split(owner, given, key)));
  assert.equal(new Set(answers.map(({ body }) => body.splitId)).size, 1);
  assert.equal(await owed(address), 5_000_000n);
  assert.deepEqual(await split(owner, { ...given, totalAmount: '6' }, key), {
    status: 409,
    body: { error: 'Idempotency key was used for another request' },
  });
});

test('random splits at once: the parts sum to the whole', async () => {
  const units = fc.bigInt({ min: 1n, max: 10n ** 14n });
  // Hundredths of a percent that sum to 100, within a hundredth.
  const shares = fc.tuple(
    fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 10 }),
    fc.integer({ min: -1, max: 1 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(units, shares), { minLength: 1, maxLength: 5 }), async (splits) => {
      const owner = await party();
      const addresses = Array.from({ length: 4 }, newAddress);
      const bodies = splits.map(([total, [parts, off]]) => {
        const rest = 10_000 + off - parts.reduce((a, b) => a + b, 0);
        const all = [...parts, rest];
        return {
          totalAmount: formatAmount(total, 6),
          recipients: all.map((share, n) => ({ address: addresses[n % 4], share: share / 100 })),
        };
      });
      const answers = await Promise.all(bodies.map((body) => split(owner, body)));
      for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body));
      const balances = await Promise.all(addresses.map(owed));
      assert.equal(
        balances.reduce((a, b) => a + b, 0n),
        splits.reduce((sum, [total]) => sum + total, 0n),
      );
    }),
    { numRuns: 15 },
  );
  await intact();
});

test('another user’s agent splits nothing, and nobody sees another’s splits', async () => {
  const [owner, other] = [await party(), await party()];
  const given = { totalAmount: '5', recipients: [{ address: newAddress(), share: 100 }] };
  assert.deepEqual(await split({ ...other, agentId: owner.agentId }, given), {
    status: 403,
    body: { error: 'Agent not found or not owned by you' },
  });
  assert.equal((await split(owner, given)).status, 200);
  assert.equal((await world.ask('GET', SPLITS, other.person)).body.count, 0);
});
