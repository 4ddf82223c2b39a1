export * from './accounts.ts';
export { createLedger, type Account, type Balance, type Hold, type Ledger, type LedgerEntry } from './ledger.ts';
export { INSUFFICIENT_BALANCE, type Done, type Entry, type Posting } from './posting.ts';
export { countedPayments, spentOn, sumOfPayments, takePaymentTurn } from './spending.ts';
export { verifyLedger, type Verdict } from './verify.ts';
