import type { Accounts } from '@troupe/accounts';
import { INVALID_KEY, MISSING_KEY } from '@troupe/contract';
import { featuresOf, ownPlan } from '@troupe/domain';
import { AppError } from '@troupe/kernel';

export type KeyService = ReturnType<typeof createKeyService>;

export function createKeyService(accounts: Accounts) {
  return {
    /** Whose key the header shows, with or without the prefix. */
    async validate(authorization: string | string[] | undefined) {
      const given = /^Bearer\s+(\S+)$/.exec(String(authorization))?.[1];
      if (given === undefined) throw new AppError(401, MISSING_KEY);
      const user = await accounts.byKey(given.startsWith('sk_') ? given : `sk_${given}`);
      if (!user) throw new AppError(401, INVALID_KEY);
      const who = accounts.subscriber(user);
      return { valid: true as const, userId: user.id, plan: ownPlan(who), features: featuresOf(who) };
    },
  };
}
