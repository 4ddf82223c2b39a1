import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase } from '@troupe/db';
import { silentLog, systemClock } from '@troupe/kernel';
import { createLedger } from '@troupe/ledger';

/** Posts without end, a dollar at a time, and prints the number of each posting once it is known to be done. */

const [url = '', name = '', writers = '', from = '', to = ''] = process.argv.slice(2);
const db = createDatabase({ url, log: silentLog, poolSize: 4 });
const ledger = createLedger({ clock: systemClock });
let next = 0;

async function post(number: number): Promise<void> {
  const entries = [
    { account: from, amount: -1n },
    { account: to, amount: 1n },
  ];
  for (;;) {
    try {
      await ledger.post(db.system, { key: `${name}:${number}`, kind: 'fault', entries });
      return;
    } catch {
      // Whether it is done nobody knows, so it is asked for again under the same key.
      await delay(5);
    }
  }
}

async function write(): Promise<void> {
  for (;;) {
    const number = next;
    next += 1;
    await post(number);
    process.stdout.write(`${number}\n`);
  }
}
await Promise.all(Array.from({ length: Number(writers) }, write));
