import type { Plan, Subscriber, SubscriptionStatus } from '@troupe/domain';
import { loopbackOnly, StartError, type Settings, type User } from '@troupe/kernel';

/** What a look-up reads of a user. */
export interface UserRow {
  id: string;
  email: string;
  name: string;
  is_admin: boolean;
  email_verified_at: Date | null;
  plan: Plan | null;
  subscription_status: SubscriptionStatus;
}

export const USER_COLUMNS = [
  'id',
  'email',
  'name',
  'is_admin',
  'email_verified_at',
  'plan',
  'subscription_status',
] as const;

type PeopleSettings = Pick<
  Settings,
  'ADMIN_EMAILS' | 'TESTER_EMAILS' | 'EMAIL_VERIFICATION' | 'SMTP_URL' | 'HOST' | 'BASE_URL' | 'NODE_ENV'
>;

/** Whether addresses have to be proved. Without a mail server, on a machine of one's own, they need not. */
export function mustVerifyEmail(settings: PeopleSettings): boolean {
  const mayBeOff = loopbackOnly(settings) && settings.SMTP_URL === undefined;
  if (settings.EMAIL_VERIFICATION === 'off' && !mayBeOff)
    throw new StartError(
      'EMAIL_VERIFICATION is "off", which is allowed only on a loopback address, outside production and without SMTP_URL: set it to on.',
    );
  return settings.EMAIL_VERIFICATION === 'on' || !mayBeOff;
}

export interface Reader {
  toUser: (row: UserRow, sessionId: string | null) => User;
  /** What the gate of plans needs to know. */
  subscriber: (user: Pick<User, 'email' | 'isAdmin' | 'plan' | 'subscriptionStatus'>) => Subscriber;
}

export function createReader(settings: PeopleSettings, mustVerify: boolean): Reader {
  const admins = new Set(settings.ADMIN_EMAILS);
  const testers = new Set(settings.TESTER_EMAILS);
  return {
    toUser(row, sessionId) {
      // Never stored as verified when it merely counts so: turning verification on later must not make administrators.
      const emailVerified = row.email_verified_at !== null || !mustVerify;
      return {
        id: row.id,
        email: row.email,
        name: row.name,
        isAdmin: row.is_admin || (emailVerified && admins.has(row.email)),
        emailVerified,
        plan: row.plan,
        subscriptionStatus: row.subscription_status,
        sessionId,
      };
    },
    subscriber: ({ email, isAdmin, plan, subscriptionStatus }) => ({
      plan,
      subscriptionStatus,
      isAdmin,
      isTester: testers.has(email),
    }),
  };
}
