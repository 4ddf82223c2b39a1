export * from './accounts.ts';
export {
  createLedger,
  INSUFFICIENT_BALANCE,
  type Account,
  type Balance,
  type Done,
  type Entry,
  type Hold,
  type Ledger,
  type LedgerEntry,
  type Posting,
} from './ledger.ts';
export { countedPayments, spentOn, takePaymentTurn } from './spending.ts';
export { verifyLedger, type Verdict } from './verify.ts';
