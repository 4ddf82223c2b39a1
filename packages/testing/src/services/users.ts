import type { Runtime } from '@troupe/db';
import type { Plan, SubscriptionStatus } from '@troupe/domain';
import { newId, randomHex, sha256Hex } from '@troupe/kernel';

/** Users without the services: who asks a program of its own need not load them. */

export interface TestUser {
  id: string;
  email: string;
  /** An API key of the user. */
  key: string;
}

/** A user with an API key, made without going through the sign-up. */
export async function addUser(
  { db }: Pick<Runtime, 'db'>,
  given: { plan?: Plan; subscriptionStatus?: SubscriptionStatus; isAdmin?: boolean; creditMicros?: bigint } = {},
): Promise<TestUser> {
  const id = newId();
  const key = `sk_${randomHex(32)}`;
  const email = `${id}@example.org`;
  const now = new Date();
  await db.system
    .insertInto('users')
    .values({
      id,
      email,
      name: 'Test',
      referral_code: id.slice(0, 20),
      plan: given.plan ?? null,
      subscription_status: given.subscriptionStatus ?? 'active',
      is_admin: given.isAdmin ?? false,
      credit_micros: given.creditMicros ?? 0n,
      email_verified_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute();
  await db.system
    .insertInto('api_keys')
    .values({ id: newId(), user_id: id, name: 'test', preview: 'sk_…', key_hash: sha256Hex(key), created_at: now })
    .execute();
  return { id, email, key };
}
