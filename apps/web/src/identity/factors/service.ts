import type { Accounts } from '@troupe/accounts';
import type { PasskeyAttestation } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, iso, isoOrNull, newId, type Clock, type User } from '@troupe/kernel';
import type { FactorMails } from '../factor-mails.ts';
import { ALGORITHMS, readNewPasskey } from '../passkeys.ts';
import { insertPasskey, passkeysOf, takeChallenge } from '../passkey-store.ts';
import type { Proofs } from '../proofs.ts';
import { findFactor, holdUser, listFactors, passwordOf, type FactorRow } from './store.ts';

interface FactorDeps {
  db: Database;
  accounts: Accounts;
  proofs: Proofs;
  tell: FactorMails;
  clock: Clock;
}

const toItem = ({ id, kind, name, created_at, last_used_at }: FactorRow) => ({
  id,
  kind,
  name,
  createdAt: iso(created_at),
  lastUsed: isoOrNull(last_used_at),
});

const KINDS = { totp: 'The authenticator app', passkey: 'The passkey' };
const aboutFactor = ({ kind, name }: FactorRow): string => `${KINDS[kind]} "${name}"`;
const unknown = () => new AppError(404, 'Factor not found');

export type Factors = ReturnType<typeof createFactors>;

export function createFactors(deps: FactorDeps) {
  const { db, accounts, proofs } = deps;
  const { factors, confirmation } = accounts;
  return {
    async list({ id, sessionId }: User) {
      const [rows, left, until, methods, password] = await Promise.all([
        listFactors(db.user(id)),
        factors.countRecoveryCodes(db.system, id),
        confirmation.until(db.system, sessionId ?? ''),
        factors.methods(db.system, id),
        passwordOf(db.system, id),
      ]);
      const own = password === null ? [] : (['password'] as const);
      return {
        factors: rows.map(toItem),
        recoveryCodesLeft: left,
        confirmedUntil: isoOrNull(until),
        confirmWith: methods.length > 0 ? methods : [...own],
        passkeys: proofs.passkeys,
        password,
      };
    },
    ...createAdding(deps),
    ...createRemoving(deps),
  };
}

/** One at a time for each user, and only in a session that was just confirmed. */
async function hold(tx: SystemTx, { confirmation }: Accounts, user: User): Promise<void> {
  if (!(await holdUser(tx, user.id))) throw new AppError(401, 'Unauthorized');
  await confirmation.require(tx, user);
}

function createAdding({ db, accounts, proofs, tell, clock }: FactorDeps) {
  const { factors, audit } = accounts;

  /** The first proof of an address ends what was made before it: nobody should believe in a factor that goes then. */
  async function admit(tx: SystemTx, user: User): Promise<void> {
    await hold(tx, accounts, user);
    if (!user.emailVerified) throw new AppError(403, 'Verify your e-mail address first');
  }

  /** Recovery codes come with the first factor. */
  async function added(tx: SystemTx, user: User, id: string, ip: string) {
    const row = await findFactor(tx, user.id, id);
    if (!row) throw unknown();
    const isFirst = (await factors.countRecoveryCodes(tx, user.id)) === 0;
    const recoveryCodes = isFirst ? await factors.makeRecoveryCodes(tx, user.id) : null;
    await audit(tx, { userId: user.id, action: 'factor-added', detail: { kind: row.kind, name: row.name }, ip });
    await tell(tx, user.id, 'added', aboutFactor(row));
    return { factor: toItem(row), recoveryCodes };
  }

  return {
    startTotp: (user: User, name: string) =>
      db.asSystem(async (tx) => {
        await admit(tx, user);
        return factors.startTotp(tx, user, name);
      }),
    confirmTotp: (user: User, id: string, code: string, ip: string) =>
      db.asSystem(async (tx) => {
        await hold(tx, accounts, user);
        const right = await factors.confirmTotp(tx, user.id, id, code);
        if (right === null) throw unknown();
        if (!right) throw new AppError(400, 'Wrong code');
        return added(tx, user, id, ip);
      }),
    startPasskey: (user: User) =>
      db.asSystem(async (tx) => {
        await admit(tx, user);
        return passkeyOptions(proofs, tx, user);
      }),
    addPasskey: (user: User, { name, passkey }: { name: string; passkey: PasskeyAttestation }, ip: string) =>
      db.asSystem(async (tx) => {
        await admit(tx, user);
        const asked = { purpose: 'add' as const, userId: user.id, boundTo: user.sessionId };
        const read = await readNewPasskey(passkey, {
          party: proofs.requireParty(),
          known: (challenge) => takeChallenge(tx, { ...asked, challenge }, clock()),
        });
        if (!read) throw new AppError(400, 'The passkey was not accepted');
        const id = newId();
        if (!(await insertPasskey(tx, { id, userId: user.id, name, now: clock() }, read)))
          throw new AppError(409, 'This passkey is known already');
        return added(tx, user, id, ip);
      }),
  };
}

/** What a browser needs to make a passkey. */
async function passkeyOptions(proofs: Proofs, tx: SystemTx, { id, email, name, sessionId }: User) {
  const { id: host } = proofs.requireParty();
  const known = await passkeysOf(tx, id);
  return {
    challenge: await proofs.challenge(tx, { purpose: 'add', userId: id, boundTo: sessionId }),
    rp: { id: host, name: 'Troupe' },
    user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    authenticatorSelection: {
      residentKey: 'required' as const,
      requireResidentKey: true as const,
      userVerification: 'required' as const,
    },
    attestation: 'none' as const,
    timeout: 300_000,
    excludeCredentials: known.map(({ credential_id }) => ({ type: 'public-key' as const, id: credential_id! })),
  };
}

function createRemoving({ db, accounts, tell }: FactorDeps) {
  const { factors, audit, users, confirmation } = accounts;
  return {
    remove: (user: User, id: string, ip: string): Promise<void> =>
      db.asSystem(async (tx) => {
        await hold(tx, accounts, user);
        const row = await findFactor(tx, user.id, id);
        if (!row || !(await factors.remove(tx, user.id, id))) throw unknown();
        await audit(tx, { userId: user.id, action: 'factor-removed', detail: { kind: row.kind, name: row.name }, ip });
        await tell(tx, user.id, 'removed', aboutFactor(row));
      }),
    newCodes: (user: User, ip: string): Promise<string[]> =>
      db.asSystem(async (tx) => {
        await hold(tx, accounts, user);
        if ((await factors.methods(tx, user.id)).length === 0) throw new AppError(409, 'Add a factor first');
        const codes = await factors.makeRecoveryCodes(tx, user.id);
        await audit(tx, { userId: user.id, action: 'recovery-codes-made', ip });
        await tell(tx, user.id, 'codes-made');
        return codes;
      }),
    /** For somebody who has lost everything; who asks for it is on record. */
    reset: (admin: User, userId: string, ip: string): Promise<void> =>
      db.asSystem(async (tx) => {
        await confirmation.require(tx, admin);
        if (!(await users.byId(tx, userId))) throw new AppError(404, 'User not found');
        if ((await factors.removeAll(tx, userId)) === 0) throw new AppError(409, 'This user has no second factor');
        await audit(tx, { userId, actorId: admin.id, action: 'factors-reset', ip });
        await tell(tx, userId, 'reset');
      }),
  };
}
