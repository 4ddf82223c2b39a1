import type { Accounts, StepMethod } from '@troupe/accounts';
import { PASSKEYS_NEED_A_NAME, type PasskeyAssertion } from '@troupe/contract';
import type { SystemTx } from '@troupe/db';
import { AppError, type Clock } from '@troupe/kernel';
import { newChallenge, readAssertion, type Party } from './passkeys.ts';
import {
  addChallenge,
  findPasskey,
  notePasskeyUse,
  passkeysOf,
  takeChallenge,
  type Challenge,
} from './passkey-store.ts';

/** One of them is given. */
export interface GivenProof {
  code?: string | undefined;
  recoveryCode?: string | undefined;
  passkey?: PasskeyAssertion | undefined;
}

/** What a passkey's challenge is for. */
export type Occasion = Omit<Challenge, 'challenge'>;

export type Checked =
  | { passed: StepMethod; userId: string }
  /** `wrongNow`: how many codes were wrong lately. */
  | { passed: null; failed: 'code' | 'passkey' | 'spent'; wrongNow: number };

interface ProofDeps {
  accounts: Accounts;
  party: Party | undefined;
  clock: Clock;
}

const CHALLENGE_LIFE_MS = 300_000;
const WRONG_CODE = 'Wrong code';

const failed = (what: 'code' | 'passkey' | 'spent', wrongNow = 0): Checked => ({
  passed: null,
  failed: what,
  wrongNow,
});

export const refusal = (what: 'code' | 'passkey' | 'spent'): AppError => {
  if (what === 'spent')
    return new AppError(429, 'Too many wrong codes. Use a passkey or a recovery code, or try again tomorrow.');
  return new AppError(401, what === 'code' ? WRONG_CODE : 'The passkey was not accepted');
};

export type Proofs = ReturnType<typeof createProofs>;

/** The second factors of people, shown. What a check writes has to be kept also when it fails. */
export function createProofs({ accounts, party, clock }: ProofDeps) {
  const { factors } = accounts;

  function requireParty(): Party {
    if (!party) throw new AppError(409, PASSKEYS_NEED_A_NAME);
    return party;
  }

  /** Whoever's it is where the occasion names nobody. */
  async function passkey(tx: SystemTx, given: PasskeyAssertion, occasion: Occasion): Promise<Checked> {
    const known = await findPasskey(tx, given.id);
    if (!known || (occasion.userId !== null && occasion.userId !== known.userId)) return failed('passkey');
    const count = await readAssertion(given, known, {
      party: requireParty(),
      known: (challenge) => takeChallenge(tx, { ...occasion, challenge }, clock()),
    });
    if (count === null) return failed('passkey');
    await notePasskeyUse(tx, known.id, count, clock());
    return { passed: 'passkey', userId: known.userId };
  }

  return {
    passkeys: party !== undefined,
    requireParty,
    passkey,
    challenge: async (tx: SystemTx, occasion: Occasion): Promise<string> => {
      const challenge = newChallenge();
      const now = clock();
      await addChallenge(tx, { ...occasion, challenge }, new Date(now.getTime() + CHALLENGE_LIFE_MS), now);
      return challenge;
    },
    /** What a browser needs to ask for a passkey. */
    async request(tx: SystemTx, occasion: Occasion) {
      const { id: rpId } = requireParty();
      const own = occasion.userId === null ? [] : await passkeysOf(tx, occasion.userId);
      return {
        challenge: await this.challenge(tx, occasion),
        rpId,
        userVerification: 'required' as const,
        timeout: CHALLENGE_LIFE_MS,
        allowCredentials: own.map(({ credential_id, transports }) => ({
          type: 'public-key' as const,
          id: credential_id!,
          transports,
        })),
      };
    },
    async check(tx: SystemTx, given: GivenProof, occasion: Occasion & { userId: string }): Promise<Checked> {
      const { userId } = occasion;
      if (given.passkey) return passkey(tx, given.passkey, occasion);
      if (given.recoveryCode !== undefined)
        return (await factors.useRecoveryCode(tx, userId, given.recoveryCode))
          ? { passed: 'recovery', userId }
          : failed('code');
      const { result, wrongNow } = await factors.checkCode(tx, userId, given.code ?? '');
      return result === 'right' ? { passed: 'totp', userId } : failed(result === 'spent' ? 'spent' : 'code', wrongNow);
    },
  };
}
