/** Addresses that the platform makes for wallets; nobody may claim one by typing it. */
export const WALLET_EMAIL_SUFFIX = '@wallet.svc';

/** No address is longer. */
export const EMAIL_LENGTH = 254;
const ATOM = String.raw`[^\s@.<>()[\],;:\\"\p{C}]+`;
const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?`;
const PATTERN = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+$`, 'u');

/** An address that a person can have: letters of any script, no spaces, quotes, control characters or lists. */
export const isEmail = (value: string): boolean => {
  const [local = ''] = value.split('@', 1);
  return (
    value.length <= EMAIL_LENGTH &&
    local.length <= 64 &&
    PATTERN.test(value) &&
    !value.toLowerCase().endsWith(WALLET_EMAIL_SUFFIX)
  );
};
