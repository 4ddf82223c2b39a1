import type { Accounts, PlanChange } from '@troupe/accounts';
import type { Database } from '@troupe/db';
import { creditsOf, type Plan, type SubscriptionStatus } from '@troupe/domain';
import { AppError, iso, isoOrNull } from '@troupe/kernel';
import { countUsers, findUser, listUsers, type PersonRow } from './store.ts';

interface Person {
  id: string;
  email: string;
  emailVerified: boolean;
  name: string;
  isAdmin: boolean;
  plan: Plan | null;
  subscriptionStatus: SubscriptionStatus;
  credits: number;
  secondFactor: boolean;
  eraseAt: string | null;
  createdAt: string;
}

export type Admin = ReturnType<typeof createAdmin>;

export function createAdmin({ db, accounts }: { db: Database; accounts: Accounts }) {
  function toPerson(row: PersonRow): Person {
    const { id, email, emailVerified, name, isAdmin } = accounts.toUser(row, null);
    return {
      id,
      email,
      emailVerified,
      name,
      isAdmin,
      plan: row.plan,
      subscriptionStatus: row.subscription_status,
      credits: creditsOf(row.credit_micros),
      secondFactor: row.second_factor,
      eraseAt: isoOrNull(row.erase_at),
      createdAt: iso(row.created_at),
    };
  }

  return {
    async list({
      limit,
      offset,
      search,
    }: {
      limit: number;
      offset: number;
      search?: string;
    }): Promise<{ users: Person[]; total: number; limit: number; offset: number }> {
      const [rows, total] = await Promise.all([
        listUsers(db.system, { limit, offset, search }),
        countUsers(db.system, search),
      ]);
      return { users: rows.map(toPerson), total, limit, offset };
    },
    update: ({ actorId, ip }: { actorId: string; ip: string }, id: string, change: PlanChange): Promise<Person> =>
      db.asSystem(async (tx) => {
        const changed = await accounts.users.changePlan(tx, id, change, { actorId, reason: 'admin', ip });
        const row = changed && (await findUser(tx, id));
        if (!row) throw new AppError(404, 'User not found');
        return toPerson(row);
      }),
  };
}
