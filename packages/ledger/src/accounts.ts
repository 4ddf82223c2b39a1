import type { Account } from './ledger.ts';

/** The accounts of the platform. USD has six decimals here; play money is an asset of its own and can never become USD. */

export const USD = 'USD';
export const PLAY = 'PLAY';
export const USD_DECIMALS = 6;

/** What the card processor owes the platform for top-ups. */
export const CARD_PROCESSOR: Account = { id: 'processor:card', asset: USD, allowNegative: true };
/** What the platform has earned. */
export const REVENUE: Account = { id: 'platform:revenue', asset: USD };
export const PLAY_SOURCE: Account = { id: 'sandbox:source', asset: PLAY, allowNegative: true };
export const PLAY_REVENUE: Account = { id: 'sandbox:revenue', asset: PLAY };
/** What has left or entered on-chain. */
export const CHAIN: Account = { id: 'chain:settled', asset: USD, allowNegative: true };
/** Spent by vouchers, and on its way to the payee on-chain. */
export const SETTLING: Account = { id: 'chain:settling', asset: USD };
/** Funds that agents split among recipients before they are paid. */
export const SPLITS: Account = { id: 'splits:source', asset: USD, allowNegative: true };

export const walletAccount = (address: string): Account => ({ id: `wallet:${address.toLowerCase()}`, asset: USD });
export const playAccount = (address: string): Account => ({ id: `play:${address.toLowerCase()}`, asset: PLAY });
/** What the platform owes somebody who has not been paid yet. */
export const owedAccount = (address: string): Account => ({ id: `owed:${address.toLowerCase()}`, asset: USD });
