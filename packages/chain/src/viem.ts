import { loadNow, onUse } from '@troupe/kernel';

/** Together they take some 15 MB, and most platforms never ask a chain. */
export const viem = onUse(() => loadNow(import.meta.resolve('viem')) as typeof import('viem'));
export const viemAccounts = onUse(
  () => loadNow(import.meta.resolve('viem/accounts')) as typeof import('viem/accounts'),
);
export const viemSiwe = onUse(() => loadNow(import.meta.resolve('viem/siwe')) as typeof import('viem/siwe'));
