import type { Accounts } from '@troupe/accounts';
import { INVALID_KEY, MISSING_KEY, validateBearerKey } from '@troupe/contract';
import { featuresOf, ownPlan } from '@troupe/domain';
import { AppError, serve, type Server } from '@troupe/kernel';

export function keyRoutes(server: Server, accounts: Accounts): void {
  serve(server, validateBearerKey, async ({ request }) => {
    const given = /^Bearer\s+(\S+)$/.exec(String(request.headers['authorization']))?.[1];
    if (given === undefined) throw new AppError(401, MISSING_KEY);
    const user = await accounts.byKey(given.startsWith('sk_') ? given : `sk_${given}`);
    if (!user) throw new AppError(401, INVALID_KEY);
    const who = accounts.subscriber(user);
    return { valid: true as const, userId: user.id, plan: ownPlan(who), features: featuresOf(who) };
  });
}
