import type { SystemTx } from '@troupe/db';
import { createCipher, newId, sha256Hex, type Clock } from '@troupe/kernel';
import { sql } from 'kysely';
import { base32, matchingPeriod, newSecret, otpauthUri } from './totp.ts';
import { randomBytes } from 'node:crypto';

/** How a second step is passed. */
export type StepMethod = 'totp' | 'passkey' | 'recovery';

/** `spent`: too many were wrong, and no code counts for a while. */
export type CodeCheck = 'right' | 'wrong' | 'spent';

export interface SecondFactors {
  /** What somebody can pass the second step with; empty: they owe none. */
  methods: (tx: SystemTx, userId: string) => Promise<StepMethod[]>;
  /** A secret that counts once a code of it was shown. One that waits already gives way. */
  startTotp: (
    tx: SystemTx,
    user: { id: string; email: string },
    name: string,
  ) => Promise<{ id: string; secret: string; uri: string }>;
  /** Null: there is no such secret that waits. */
  confirmTotp: (tx: SystemTx, userId: string, id: string, code: string) => Promise<boolean | null>;
  /**
   * Holds the user: of many guesses at once each is counted. What it writes has to be kept also when the code is wrong.
   * `wrongNow`: how many were wrong lately, this one included.
   */
  checkCode: (tx: SystemTx, userId: string, code: string) => Promise<{ result: CodeCheck; wrongNow: number }>;
  /** True once for each code. */
  useRecoveryCode: (tx: SystemTx, userId: string, code: string) => Promise<boolean>;
  /** New ones instead of all old ones; shown once, kept as hashes. */
  makeRecoveryCodes: (tx: SystemTx, userId: string) => Promise<string[]>;
  countRecoveryCodes: (tx: SystemTx, userId: string) => Promise<number>;
  /** True when it was there. With the last factor the recovery codes go, too. */
  remove: (tx: SystemTx, userId: string, id: string) => Promise<boolean>;
  /** How many there were. */
  removeAll: (tx: SystemTx, userId: string) => Promise<number>;
}

interface FactorDeps {
  clock: Clock;
  secret: string;
  /** What an app shows above the codes. */
  issuer: string;
}

const DAY_MS = 86_400_000;
/** Ten guesses of a million codes a day, of which three count: a year of guessing succeeds one time in a hundred. */
const WRONG_CODES_A_DAY = 10;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** As it is compared: people type spaces, hyphens and capitals as they like. */
const plain = (code: string): string => code.replace(/[\s-]/g, '').toLowerCase();
const recoveryHash = (userId: string, code: string): string => sha256Hex(`${userId} ${plain(code)}`);

function recoveryCode(): string {
  const text = base32(randomBytes(RECOVERY_BYTES)).toLowerCase();
  return text.match(/.{4}/g)!.join('-');
}

function createSeals(key: string) {
  const cipher = createCipher(key, 'second factors');
  const contextOf = (userId: string, id: string): string => `${userId} ${id}`;
  return {
    sealed: (userId: string, id: string, secret: Buffer): Buffer =>
      cipher.seal(secret.toString('base64'), contextOf(userId, id)),
    opened: (userId: string, { id, secret_sealed }: { id: string; secret_sealed: Buffer | null }): Buffer =>
      Buffer.from(cipher.open(secret_sealed!, contextOf(userId, id)), 'base64'),
  };
}

function totpFactors({ clock, secret: key, issuer }: FactorDeps) {
  const { sealed, opened } = createSeals(key);

  const startTotp: SecondFactors['startTotp'] = async (tx, { id: userId, email }, name) => {
    await tx
      .deleteFrom('second_factors')
      .where('user_id', '=', userId)
      .where('kind', '=', 'totp')
      .where('confirmed_at', 'is', null)
      .execute();
    const [id, secret] = [newId(), newSecret()];
    await tx
      .insertInto('second_factors')
      .values({
        id,
        user_id: userId,
        kind: 'totp',
        name,
        secret_sealed: sealed(userId, id, secret),
        created_at: clock(),
      })
      .execute();
    return { id, secret: base32(secret), uri: otpauthUri(secret, issuer, email) };
  };

  const confirmTotp: SecondFactors['confirmTotp'] = async (tx, userId, id, code) => {
    const row = await tx
      .selectFrom('second_factors')
      .select(['id', 'secret_sealed'])
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('kind', '=', 'totp')
      .where('confirmed_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return null;
    const now = clock();
    const period = matchingPeriod(opened(userId, row), plain(code), now, 0);
    if (period === null) return false;
    await tx
      .updateTable('second_factors')
      .set({ confirmed_at: now, last_used_at: now, last_period: BigInt(period) })
      .where('id', '=', id)
      .execute();
    return true;
  };

  return { startTotp, confirmTotp };
}

function codeChecking({ clock, secret: key }: FactorDeps) {
  const { opened } = createSeals(key);

  /** Takes the code's period, so that it counts once. */
  async function takeCode(tx: SystemTx, userId: string, code: string): Promise<boolean> {
    const rows = await tx
      .selectFrom('second_factors')
      .select(['id', 'secret_sealed', 'last_period'])
      .where('user_id', '=', userId)
      .where('kind', '=', 'totp')
      .where('confirmed_at', 'is not', null)
      .execute();
    const now = clock();
    let taken: { id: string; period: number } | undefined;
    for (const row of rows) {
      const period = matchingPeriod(opened(userId, row), plain(code), now, Number(row.last_period));
      if (period !== null) taken = { id: row.id, period };
    }
    if (!taken) return false;
    await tx
      .updateTable('second_factors')
      .set({ last_used_at: now, last_period: BigInt(taken.period) })
      .where('id', '=', taken.id)
      .execute();
    return true;
  }

  const checkCode: SecondFactors['checkCode'] = async (tx, userId, code) => {
    const user = await tx
      .selectFrom('users')
      .select(['wrong_codes', 'wrong_codes_since'])
      .where('id', '=', userId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!user) return { result: 'wrong', wrongNow: 0 };
    const now = clock();
    const since = user.wrong_codes_since;
    const counts = since !== null && now.getTime() - since.getTime() < DAY_MS;
    const before = counts ? user.wrong_codes : 0;
    if (before >= WRONG_CODES_A_DAY) return { result: 'spent', wrongNow: before };
    const right = await takeCode(tx, userId, code);
    await tx
      .updateTable('users')
      .set(
        right
          ? { wrong_codes: 0, wrong_codes_since: null }
          : { wrong_codes: before + 1, wrong_codes_since: counts ? since : now },
      )
      .where('id', '=', userId)
      .execute();
    return right ? { result: 'right', wrongNow: 0 } : { result: 'wrong', wrongNow: before + 1 };
  };

  return { checkCode };
}

function recovery({ clock }: FactorDeps) {
  return {
    async useRecoveryCode(tx: SystemTx, userId: string, code: string) {
      // Deleting is what makes it work once: of two at the same moment only one gets the row.
      const used = await tx
        .deleteFrom('recovery_codes')
        .where('user_id', '=', userId)
        .where('code_hash', '=', recoveryHash(userId, code))
        .returning('user_id')
        .executeTakeFirst();
      return used !== undefined;
    },
    async makeRecoveryCodes(tx: SystemTx, userId: string) {
      const codes = Array.from({ length: RECOVERY_CODES }, recoveryCode);
      const created_at = clock();
      await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
      await tx
        .insertInto('recovery_codes')
        .values(codes.map((code) => ({ user_id: userId, code_hash: recoveryHash(userId, code), created_at })))
        .execute();
      return codes;
    },
    async countRecoveryCodes(tx: SystemTx, userId: string) {
      const { count } = await tx
        .selectFrom('recovery_codes')
        .select((eb) => eb.fn.countAll<bigint>().as('count'))
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}

/** Recovery codes alone are no second factor: without one nobody would be asked for them. */
async function dropUnneeded(tx: SystemTx, userId: string): Promise<void> {
  await sql`delete from recovery_codes where user_id = ${userId} and not exists (
    select from second_factors where user_id = ${userId} and confirmed_at is not null)`.execute(tx);
}

export function createSecondFactors(deps: FactorDeps): SecondFactors {
  return {
    ...totpFactors(deps),
    ...codeChecking(deps),
    ...recovery(deps),
    async methods(tx, userId) {
      const kinds = await tx
        .selectFrom('second_factors')
        .select('kind')
        .distinct()
        .where('user_id', '=', userId)
        .where('confirmed_at', 'is not', null)
        .execute();
      if (kinds.length === 0) return [];
      const has = (kind: StepMethod) => kinds.some((row) => row.kind === kind);
      const codes = await tx
        .selectFrom('recovery_codes')
        .select('user_id')
        .where('user_id', '=', userId)
        .limit(1)
        .execute();
      return (['passkey', 'totp', 'recovery'] as const).filter((one) =>
        one === 'recovery' ? codes.length > 0 : has(one),
      );
    },
    async remove(tx, userId, id) {
      const gone = await tx
        .deleteFrom('second_factors')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returning('id')
        .executeTakeFirst();
      if (gone) await dropUnneeded(tx, userId);
      return gone !== undefined;
    },
    async removeAll(tx, userId) {
      const gone = await tx
        .deleteFrom('second_factors')
        .where('user_id', '=', userId)
        .returning('confirmed_at')
        .execute();
      await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
      await tx.updateTable('users').set({ wrong_codes: 0, wrong_codes_since: null }).where('id', '=', userId).execute();
      return gone.filter(({ confirmed_at }) => confirmed_at !== null).length;
    },
  };
}
