import type { SystemTx } from '@troupe/db';
import type { Plan, SubscriptionStatus } from '@troupe/domain';
import { newId, randomBase36, type Clock } from '@troupe/kernel';
import type { Audit } from './audit.ts';
import { USER_COLUMNS, type UserRow } from './user.ts';

export interface NewUser {
  email: string;
  name?: string;
  passwordHash?: string;
  /** Made by the platform, and chosen by nobody. */
  passwordGiven?: boolean;
  /** The address was proved some other way. */
  verified?: boolean;
  isAdmin?: boolean;
  plan?: Plan;
  subscriptionStatus?: SubscriptionStatus;
}

export interface PlanChange {
  plan?: Plan | null;
  subscriptionStatus?: SubscriptionStatus;
  /** Left out: until it is changed again. */
  endsAt?: Date | undefined;
}

export interface Users {
  /** Null: the e-mail is taken. Two at once: one gets it. */
  create: (tx: SystemTx, user: NewUser) => Promise<UserRow | null>;
  byId: (tx: SystemTx, id: string) => Promise<UserRow | null>;
  byEmail: (tx: SystemTx, email: string) => Promise<(UserRow & { password_hash: string | null }) | null>;
  /** Null: no such user. Recorded, with who did it. */
  changePlan: (
    tx: SystemTx,
    id: string,
    change: PlanChange,
    by: { actorId?: string; reason: string; ip?: string },
  ) => Promise<UserRow | null>;
}

/** An address as it is stored and compared: case, outer spaces and the way accents are encoded make no other address. */
export const normalEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();

function planning({ clock, audit }: { clock: Clock; audit: Audit }): Pick<Users, 'changePlan'> {
  return {
    async changePlan(tx, id, { plan, subscriptionStatus, endsAt }, { actorId, reason, ip }) {
      const before = await tx
        .selectFrom('users')
        .select(['plan', 'subscription_status'])
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst();
      if (!before) return null;
      const row = await tx
        .updateTable('users')
        .set({ plan, subscription_status: subscriptionStatus, plan_ends_at: endsAt ?? null, updated_at: clock() })
        .where('id', '=', id)
        .returning(USER_COLUMNS)
        .executeTakeFirstOrThrow();
      await audit(tx, {
        userId: id,
        actorId,
        action: 'plan-change',
        ip,
        detail: {
          reason,
          from: { plan: before.plan, subscriptionStatus: before.subscription_status },
          to: { plan: row.plan, subscriptionStatus: row.subscription_status },
        },
      });
      return row;
    },
  };
}

export function createUsers(deps: { clock: Clock; audit: Audit }): Users {
  const { clock } = deps;
  return {
    async create(tx, { email, name, passwordHash, passwordGiven, verified, isAdmin, plan, subscriptionStatus }) {
      const now = clock();
      const address = normalEmail(email);
      const row = await tx
        .insertInto('users')
        .values({
          id: newId(),
          email: address,
          name: name?.trim() || (address.split('@')[0] ?? address),
          password_hash: passwordHash,
          password_given: passwordGiven,
          email_verified_at: verified ? now : null,
          is_admin: isAdmin,
          plan,
          subscription_status: subscriptionStatus,
          referral_code: randomBase36(10).toUpperCase(),
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.column('email').doNothing())
        .returning(USER_COLUMNS)
        .executeTakeFirst();
      return row ?? null;
    },
    async byId(tx, id) {
      return (await tx.selectFrom('users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async byEmail(tx, email) {
      const row = await tx
        .selectFrom('users')
        .select([...USER_COLUMNS, 'password_hash'])
        .where('email', '=', normalEmail(email))
        .executeTakeFirst();
      return row ?? null;
    },
    ...planning(deps),
  };
}
