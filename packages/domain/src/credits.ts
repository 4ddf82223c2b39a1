/** Ten credits are worth one US dollar of AI usage. Amounts are millionths of a dollar. */
export const CREDIT_MICROS = 100_000n;

/** What each side gets when somebody brings somebody. */
export const REFERRAL_CREDITS = 10n;
export const REFERRAL_CREDITS_A_MONTH = 100n;

export const creditsOf = (micros: bigint): number => Number(micros) / Number(CREDIT_MICROS);
