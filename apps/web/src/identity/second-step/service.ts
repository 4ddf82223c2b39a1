import { type Accounts, type OpenStep, type Origin } from '@troupe/accounts';
import { SIGN_IN_AGAIN, type PasskeyAssertion } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, iso, type Cookie, type User } from '@troupe/kernel';
import type { Attempts } from '../attempts.ts';
import type { FactorMails } from '../factor-mails.ts';
import type { FailedSignIns } from '../failed-sign-ins.ts';
import { refusal, type Checked, type GivenProof, type Proofs } from '../proofs.ts';

interface StepDeps {
  db: Database;
  accounts: Accounts;
  proofs: Proofs;
  tell: FactorMails;
  attempts: Attempts;
  failedSignIns: FailedSignIns;
}

/** Whoever gets so far knows the first step: its owner hears of it. */
const TELL_AT = 5;

const again = () => new AppError(401, SIGN_IN_AGAIN);

interface SignedIn {
  user: { id: string; name: string };
  cookies: Cookie[];
}

export type SecondStep = ReturnType<typeof createSecondStep>;

export function createSecondStep(deps: StepDeps) {
  const { db, accounts, proofs, failedSignIns } = deps;
  const { sessions } = accounts;
  const afterwards = createAfterwards(deps);
  const occasionOf = ({ hash, userId }: OpenStep) => ({ purpose: 'second-step' as const, userId, boundTo: hash });

  const personOf = createPerson(accounts);

  return {
    async owed(token: string | undefined) {
      const step = await db.asSystem((tx) => sessions.openStep(tx, token));
      if (!step) throw again();
      return { methods: step.methods, expiresAt: iso(step.expiresAt) };
    },

    async options(token: string | undefined) {
      return db.asSystem(async (tx) => {
        const step = await sessions.openStep(tx, token);
        if (!step) throw again();
        return proofs.request(tx, occasionOf(step));
      });
    },

    async pass(token: string | undefined, given: GivenProof, origin: Origin): Promise<SignedIn> {
      const done = await db.asSystem(async (tx) => {
        const step = await sessions.openStep(tx, token);
        if (!step) return null;
        const checked = await proofs.check(tx, given, occasionOf(step));
        await afterwards(tx, step.userId, checked);
        if (checked.passed === null) {
          await sessions.missStep(tx, step);
          return { step, failed: checked.failed };
        }
        const cookie = await sessions.finishStep(tx, step, checked.passed, origin);
        return { user: await personOf(tx, step.userId), cookies: [cookie, sessions.clearedStep()] };
      });
      if (!done) throw again();
      if (done.step === undefined) return done;
      const { userId, method } = done.step;
      await failedSignIns({ userId, method, reason: 'second step', ip: origin.ip });
      throw refusal(done.failed);
    },

    ...createAlone(deps, personOf),
    ...createConfirming(deps, afterwards),
  };
}

function createPerson({ users }: Accounts) {
  return async (tx: SystemTx, userId: string): Promise<{ id: string; name: string }> => {
    const user = await users.byId(tx, userId);
    if (!user) throw again();
    return { id: user.id, name: user.name };
  };
}

/** A passkey without a first step. */
function createAlone({ db, accounts, proofs, failedSignIns }: StepDeps, personOf: ReturnType<typeof createPerson>) {
  const { sessions } = accounts;
  return {
    passkeyOptions: () => db.asSystem((tx) => proofs.request(tx, { purpose: 'sign-in', userId: null, boundTo: null })),

    async signInWithPasskey(given: PasskeyAssertion, origin: Origin): Promise<SignedIn> {
      const done = await db.asSystem(async (tx) => {
        const checked = await proofs.passkey(tx, given, { purpose: 'sign-in', userId: null, boundTo: null });
        if (checked.passed === null) return null;
        const cookie = await sessions.signInWithPasskey(tx, checked.userId, origin);
        return { user: await personOf(tx, checked.userId), cookies: [cookie, sessions.clearedStep()] };
      });
      if (done) return done;
      await failedSignIns({ userId: null, method: 'passkey', ip: origin.ip });
      throw refusal('passkey');
    },
  };
}

/** What the owner is told, and what is put on record. */
function createAfterwards({ accounts, tell }: StepDeps) {
  return async (tx: SystemTx, userId: string, checked: Checked): Promise<void> => {
    if (checked.passed === 'recovery')
      await tell(tx, userId, 'code-used', String(await accounts.factors.countRecoveryCodes(tx, userId)));
    if (checked.passed === null && checked.wrongNow === TELL_AT && checked.failed === 'code')
      await tell(tx, userId, 'wrong-codes', String(TELL_AT));
  };
}

function createConfirming(
  { db, accounts, proofs, attempts }: StepDeps,
  afterwards: ReturnType<typeof createAfterwards>,
) {
  const { users, factors, passwords, confirmation } = accounts;
  const occasionOf = ({ id, sessionId }: User) => ({ purpose: 'confirm' as const, userId: id, boundTo: sessionId });

  async function confirmed(tx: SystemTx, { sessionId }: User): Promise<string> {
    await confirmation.note(tx, sessionId ?? '');
    const until = await confirmation.until(tx, sessionId ?? '');
    if (!until) throw new AppError(401, 'Unauthorized');
    return iso(until);
  }

  async function byPassword(user: User, password: string): Promise<string> {
    if ((await factors.methods(db.system, user.id)).length > 0)
      throw new AppError(403, 'Confirm with your second factor, not with the password');
    const stored = (await users.byEmail(db.system, user.email))?.password_hash ?? null;
    if (stored === null) throw new AppError(403, 'Sign in again to confirm that it is you');
    const matches = await attempts.guard(`password:${user.id}`, () => passwords.verify(stored, password, user.id));
    if (!matches) throw new AppError(401, 'Wrong password');
    return db.asSystem((tx) => confirmed(tx, user));
  }

  return {
    confirmOptions: (user: User) => db.asSystem((tx) => proofs.request(tx, occasionOf(user))),
    async confirm(user: User, { password, ...given }: GivenProof & { password?: string | undefined }) {
      if (password !== undefined) return byPassword(user, password);
      const done = await db.asSystem(async (tx) => {
        const checked = await proofs.check(tx, given, occasionOf(user));
        await afterwards(tx, user.id, checked);
        return checked.passed === null ? { failed: checked.failed } : { until: await confirmed(tx, user) };
      });
      if (done.failed !== undefined) throw refusal(done.failed);
      return done.until;
    },
  };
}
