import { randomBytes } from 'node:crypto';
import type { Database } from '@troupe/db';
import type { Settings } from '@troupe/kernel';
import type { Accounts } from './accounts.ts';

export interface Owner {
  email: string;
  /** Told once, stored only as a hash. */
  password: string;
}

interface OwnerDeps {
  db: Database;
  accounts: Accounts;
  settings: Pick<Settings, 'OWNER_EMAIL'>;
}

/** The account of a first start: an administrator with the highest plan. Null when there is anybody already. */
export async function ensureOwner({ db, accounts, settings }: OwnerDeps): Promise<Owner | null> {
  const anybody = await db.system.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (anybody) return null;
  const password = randomBytes(15).toString('base64url');
  const passwordHash = await accounts.passwords.hash(password, 'owner');
  return db.asSystem(async (tx) => {
    const owner = await accounts.users.create(tx, {
      email: settings.OWNER_EMAIL,
      name: 'Owner',
      passwordHash,
      passwordGiven: true,
      verified: true,
      isAdmin: true,
      plan: 'network',
      subscriptionStatus: 'active',
    });
    if (!owner) return null;
    await accounts.audit(tx, { userId: owner.id, action: 'owner-created' });
    return { email: owner.email, password };
  });
}
