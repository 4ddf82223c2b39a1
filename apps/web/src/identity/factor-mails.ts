import type { Accounts } from '@troupe/accounts';
import { WALLET_EMAIL_SUFFIX } from '@troupe/contract';
import type { SystemTx } from '@troupe/db';
import type { MailRoom } from '../platform/mail.ts';

/** What the owner of an account is told of its second step, wherever it happens. */
export type FactorNews = 'added' | 'removed' | 'reset' | 'codes-made' | 'code-used' | 'wrong-codes';

interface Told {
  email: string;
  what: FactorNews;
  /** Which factor, or how many codes are left. */
  about: string;
}

const CHECK = 'If it was not you, change your password at once and look at where you are signed in';

const NEWS: Record<FactorNews, { subject: string; text: (about: string) => string }> = {
  added: {
    subject: 'A second factor was added to your account',
    text: (about) => `${about} was added to your account. From now on a sign-in asks for a second step.\n\n${CHECK}`,
  },
  removed: {
    subject: 'A second factor was removed from your account',
    text: (about) => `${about} was removed from your account.\n\n${CHECK}`,
  },
  reset: {
    subject: 'An administrator removed your second factors',
    text: () =>
      'An administrator removed all second factors of your account, and its recovery codes. Your password alone lets you in until you add a factor again.\n\nIf you did not ask for it, tell an administrator, and look at where you are signed in',
  },
  'codes-made': {
    subject: 'New recovery codes were made',
    text: () => `New recovery codes were made for your account; the old ones no longer work.\n\n${CHECK}`,
  },
  'code-used': {
    subject: 'A recovery code was used',
    text: (about) => `A recovery code of your account was used. Codes left: ${about}.\n\n${CHECK}`,
  },
  'wrong-codes': {
    subject: 'Somebody knows your password',
    text: (about) =>
      `Somebody passed the first step of a sign-in to your account and then gave ${about} wrong codes.\n\n${CHECK}`,
  },
};

export type FactorMails = ReturnType<typeof createFactorMails>;

export function createFactorMails({
  accounts,
  mail,
  baseUrl,
}: {
  accounts: Accounts;
  mail: MailRoom;
  baseUrl: string;
}) {
  const link = `${baseUrl}/dashboard/settings?tab=security`;
  mail.define('second-step', async ({ email, what, about }: Told) => ({
    to: email,
    subject: NEWS[what].subject,
    text: `Hello,\n\n${NEWS[what].text(about)}:\n\n${link}\n`,
    link,
  }));

  return async (tx: SystemTx, userId: string, what: FactorNews, about = ''): Promise<void> => {
    const user = await accounts.users.byId(tx, userId);
    // Accounts that came by wallet have no letterbox.
    if (!user || user.email.endsWith(WALLET_EMAIL_SUFFIX)) return;
    // Whose letterbox it is nobody knows yet: it is not there for what a stranger called a factor.
    if (accounts.verification.required && user.email_verified_at === null) return;
    // The name is for processes of the release before, which greet by it.
    await mail.post(tx, 'second-step', { email: user.email, name: user.name, what, about });
  };
}
