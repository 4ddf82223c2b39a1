import type { SystemTx } from '@troupe/db';
import { newId, randomHex, SESSION_COOKIE, sha256Hex, type Clock, type Cookie } from '@troupe/kernel';
import type { Audit } from './audit.ts';
import { deviceOf } from './device.ts';
import type { SecondFactors, StepMethod } from './second-factors.ts';

const DAY_S = 86_400;
const LIFE_S = 30 * DAY_S;

/** Where a request came from. */
export interface Origin {
  ip: string;
  userAgent: string | undefined;
}

/** What somebody shows first. */
type FirstStep = 'password' | 'idp1' | 'idp2' | 'wallet';
export type SignInMethod = FirstStep | 'passkey';

/** The second step is owed: the cookie names the sign-in until it is done. */
export interface OwedStep {
  methods: StepMethod[];
  expiresAt: Date;
}

/** How far a sign-in has come: with `step` the cookie is not yet a session. */
export interface Entry {
  cookie: Cookie;
  step: OwedStep | null;
}

/** A sign-in that owes the second step. */
export interface OpenStep extends OwedStep {
  hash: string;
  userId: string;
  method: FirstStep;
}

export const STEP_COOKIE = 'svc-sign-in';
const STEP_LIFE_S = 600;
/** Then it begins anew, with the first step. */
const STEP_TRIES = 5;

export interface Sessions {
  /**
   * After the first step: a session, or for somebody with a second factor a sign-in that owes it. Every way in ends here.
   * Tokens are in the cookie and nowhere else.
   */
  signIn: (tx: SystemTx, userId: string, method: FirstStep, origin: Origin) => Promise<Entry>;
  /** The sign-in of this token, held for the rest of the transaction; null: there is none, or it has been tried too often. */
  openStep: (tx: SystemTx, token: string | undefined) => Promise<OpenStep | null>;
  /** A try that failed. It has to be kept. */
  missStep: (tx: SystemTx, step: OpenStep) => Promise<void>;
  /** Makes the session of a sign-in whose second step was passed, and puts it on record. */
  finishStep: (tx: SystemTx, step: OpenStep, passed: StepMethod, origin: Origin) => Promise<Cookie>;
  /** A passkey that asked its owner who they are is both steps at once. */
  signInWithPasskey: (tx: SystemTx, userId: string, origin: Origin) => Promise<Cookie>;
  /** Ends the session of this token, if there is one. */
  signOut: (tx: SystemTx, token: string) => Promise<void>;
  endAll: (tx: SystemTx, userId: string, except?: string | null) => Promise<void>;
  clearedCookie: () => Cookie;
  clearedStep: () => Cookie;
}

interface SessionDeps {
  clock: Clock;
  audit: Audit;
  factors: SecondFactors;
  /** Only over TLS: the public address is https. */
  secure: boolean;
}

const cookieNamed =
  (name: string, path: string, secure: boolean) =>
  (value: string, maxAge: number): Cookie => ({
    name,
    value,
    maxAge,
    httpOnly: true,
    sameSite: 'lax',
    path,
    secure,
  });

function openings({ clock, audit, secure }: SessionDeps) {
  const cookie = cookieNamed(SESSION_COOKIE, '/', secure);
  return async function open(
    tx: SystemTx,
    userId: string,
    { method, passed }: { method: SignInMethod; passed: StepMethod | null },
    { ip, userAgent }: Origin,
  ): Promise<Cookie> {
    const token = randomHex(32);
    const now = clock();
    await tx
      .insertInto('sessions')
      .values({
        id: newId(),
        user_id: userId,
        token_hash: sha256Hex(token),
        device: deviceOf(userAgent),
        ip,
        created_at: now,
        last_seen_at: now,
        expires_at: new Date(now.getTime() + LIFE_S * 1000),
        second_step: passed,
      })
      .execute();
    const detail = passed === null || method === 'passkey' ? { method } : { method, secondStep: passed };
    await audit(tx, { userId, action: 'sign-in', detail, ip });
    return cookie(token, LIFE_S);
  };
}

function steps(deps: SessionDeps) {
  const { clock, factors, secure } = deps;
  const open = openings(deps);
  const stepCookie = cookieNamed(STEP_COOKIE, '/api/auth/second-step', secure);
  const drop = (tx: SystemTx, hash: string) => tx.deleteFrom('sign_in_steps').where('token_hash', '=', hash).execute();

  return {
    clearedStep: () => stepCookie('', 0),
    async signIn(tx: SystemTx, userId: string, method: FirstStep, origin: Origin): Promise<Entry> {
      const methods = await factors.methods(tx, userId);
      if (methods.length === 0) return { cookie: await open(tx, userId, { method, passed: null }, origin), step: null };
      const token = randomHex(32);
      const expiresAt = new Date(clock().getTime() + STEP_LIFE_S * 1000);
      await tx
        .insertInto('sign_in_steps')
        .values({ token_hash: sha256Hex(token), user_id: userId, method, expires_at: expiresAt })
        .execute();
      return { cookie: stepCookie(token, STEP_LIFE_S), step: { methods, expiresAt } };
    },
    async openStep(tx: SystemTx, token: string | undefined): Promise<OpenStep | null> {
      if (token === undefined) return null;
      const row = await tx
        .selectFrom('sign_in_steps')
        .selectAll()
        .where('token_hash', '=', sha256Hex(token))
        .where('expires_at', '>', clock())
        .where('tries', '<', STEP_TRIES)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return null;
      const methods = await factors.methods(tx, row.user_id);
      return { hash: row.token_hash, userId: row.user_id, method: row.method, methods, expiresAt: row.expires_at };
    },
    async missStep(tx: SystemTx, { hash }: OpenStep): Promise<void> {
      await tx
        .updateTable('sign_in_steps')
        .set((eb) => ({ tries: eb('tries', '+', 1) }))
        .where('token_hash', '=', hash)
        .execute();
    },
    async finishStep(tx: SystemTx, { hash, userId, method }: OpenStep, passed: StepMethod, origin: Origin) {
      await drop(tx, hash);
      return open(tx, userId, { method, passed }, origin);
    },
    signInWithPasskey: (tx: SystemTx, userId: string, origin: Origin): Promise<Cookie> =>
      open(tx, userId, { method: 'passkey', passed: 'passkey' }, origin),
  };
}

export function createSessions(deps: SessionDeps): Sessions {
  const cleared = cookieNamed(SESSION_COOKIE, '/', deps.secure);
  return {
    ...steps(deps),
    async signOut(tx, token) {
      await tx.deleteFrom('sessions').where('token_hash', '=', sha256Hex(token)).execute();
    },
    async endAll(tx, userId, except = null) {
      let query = tx.deleteFrom('sessions').where('user_id', '=', userId);
      if (except !== null) query = query.where('id', '!=', except);
      await query.execute();
      // A sign-in that is half done must not outlive what it began with.
      await tx.deleteFrom('sign_in_steps').where('user_id', '=', userId).execute();
    },
    clearedCookie: () => cleared('', 0),
  };
}
