import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, migrate, startEmbedded } from '@troupe/db';
import { randomHex, silentLog, systemClock } from '@troupe/kernel';
import { createLedger } from '@troupe/ledger';
import { sql } from 'kysely';
import { finish, printTable } from './lib/report.ts';
import { against, median, pairedRatio } from './lib/sides.ts';

/** Ledger transfers by 8 writers on the embedded server, against a plain `update` of both balances, without entries or keys. */

const WRITERS = 8;
const ACCOUNTS = 1_000;
const ROUNDS = 9;
const ROUND_MS = 600;

const dataDir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
const server = await startEmbedded({ dataDir, log: silentLog });
await migrate({ url: server.url, log: silentLog });
const db = createDatabase({ url: server.url, log: silentLog, poolSize: WRITERS });
const ledger = createLedger({ clock: systemClock });

const id = (kind: string, n: number): string => `${kind}:${String(n).padStart(4, '0')}`;
await db.asSystem(async (tx) => {
  for (const kind of ['ledger', 'plain'])
    await ledger.open(
      tx,
      Array.from({ length: ACCOUNTS }, (_, n) => ({ id: id(kind, n), asset: 'USD', allowNegative: true })),
    );
});

/** Two different accounts of the first `width`. */
function pair(kind: string, width: number): [string, string] {
  const a = Math.floor(Math.random() * width);
  const b = (a + 1 + Math.floor(Math.random() * (width - 1))) % width;
  return [id(kind, a), id(kind, b)];
}

const transfer = async (width: number): Promise<unknown> => {
  const [from, to] = pair('ledger', width);
  return ledger.post(db.system, {
    key: randomHex(12),
    kind: 'bench',
    entries: [
      { account: from, amount: -1n },
      { account: to, amount: 1n },
    ],
  });
};
const update = async (width: number): Promise<unknown> => {
  const [from, to] = pair('plain', width);
  // In one round trip too; locked in order first, because without that two of them can wait for each other.
  return sql`with locked as (
      select id from ledger_accounts where id in (${from}, ${to}) order by id for no key update)
    update ledger_accounts a set balance = balance + case a.id when ${from} then -1 else 1 end
    from locked where a.id = locked.id`.execute(db.system);
};

async function rate(work: (width: number) => Promise<unknown>, width: number): Promise<number> {
  const started = performance.now();
  let done = 0;
  const writer = async () => {
    while (performance.now() - started < ROUND_MS) {
      await work(width);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return (done / (performance.now() - started)) * 1000;
}

const cases = { hot: 2, spread: ACCOUNTS } as const;
const found: Record<string, { ledger: number[]; plain: number[] }> = {};
for (let round = 0; round <= ROUNDS; round += 1)
  for (const [name, width] of Object.entries(cases)) {
    const rates = (found[name] ??= { ledger: [], plain: [] });
    const [ours, plain] = [await rate(transfer, width), await rate(update, width)];
    // The first round warms up.
    if (round > 0) {
      rates.ledger.push(ours);
      rates.plain.push(plain);
    }
  }

const rows = Object.entries(found).map(([name, rates]) => ({
  accounts: name,
  'ledger transfers/s': median(rates.ledger),
  'plain updates/s': median(rates.plain),
  ratio: pairedRatio(rates.ledger, rates.plain),
}));
printTable(`${WRITERS} writers, durable commits`, rows);
const ratioOf = (name: keyof typeof cases) => against(found[name]?.ledger ?? [], found[name]?.plain ?? []);
finish(
  'ledger',
  [
    { figure: 'hot_ratio', ...ratioOf('hot'), atLeast: 1.5 },
    { figure: 'spread_ratio', ...ratioOf('spread'), atLeast: 0.8 },
  ],
  Object.fromEntries(rows.map((row) => [`${row.accounts}_per_second`, row['ledger transfers/s']])),
);
await db.close();
await server.stop();
await rm(dataDir, { recursive: true, force: true });
