import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { CARD_PROCESSOR, createLedger, walletAccount } from '@troupe/ledger';

const ledger = createLedger({ clock: () => new Date() });

/** Gives an address money, as a top-up does. */
export const fund = (db: Database, address: string, units: bigint): Promise<void> =>
  db.asSystem(async (tx) => {
    const account = walletAccount(address);
    await ledger.open(tx, [CARD_PROCESSOR, account]);
    await ledger.post(tx, {
      key: `fund:${newId()}`,
      kind: 'top-up',
      entries: [
        { account: CARD_PROCESSOR.id, amount: -units },
        { account: account.id, amount: units },
      ],
    });
  });
