import type { Database } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, iso } from '@troupe/kernel';
import { owedAccount, USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import type { OwnsAddress, WalletCaller } from '../wallet-access.ts';

export type LedgerService = ReturnType<typeof createLedgerService>;

const usd = (units: bigint): string => formatAmount(units, USD_DECIMALS);

export function createLedgerService({
  db,
  ledger,
  ownsAddress,
}: {
  db: Database;
  ledger: Ledger;
  ownsAddress: OwnsAddress;
}) {
  return {
    async of(caller: WalletCaller, address: string, limit: number) {
      const allowed = caller.user?.isAdmin === true || (await ownsAddress(caller, address));
      if (!allowed) throw new AppError(401, 'Unauthorized');
      const { id } = walletAccount(address);
      const [{ balance, available }, owed, entries] = await Promise.all([
        ledger.balance(db.system, id),
        ledger.balance(db.system, owedAccount(address).id),
        ledger.entries(db.system, id, limit),
      ]);
      return {
        address,
        balance: usd(balance),
        available: usd(available),
        ...(owed.balance > 0n ? { owed: usd(owed.balance) } : {}),
        entries: entries.map((entry) => ({
          id: String(entry.id),
          kind: entry.kind,
          amount: usd(entry.amount),
          balance: usd(entry.balanceAfter),
          timestamp: iso(entry.at),
        })),
      };
    },
  };
}
