import { createFairQueue } from '@troupe/kernel';

export interface Passwords {
  /** `by`: who asks, an address or a user. They take turns, so that nobody holds up the others. */
  hash: (password: string, by: string) => Promise<string>;
  /** `stored` null: nobody, or somebody without a password. It takes as long, and is false. */
  verify: (stored: string | null, password: string, by: string) => Promise<boolean>;
}

interface PasswordOptions {
  argon?: Argon;
  /** For tests that are about something else. */
  cost?: Cost;
  width?: number;
  waiting?: number;
  waitingPerKey?: number;
}

/** argon2id; both run on a thread of their own. */
interface Argon {
  hash: (password: string, options: Cost) => Promise<string>;
  verify: (stored: string, password: string) => Promise<boolean>;
}

/** Loaded by the first password: a start without a sign-in is 4 MB smaller, and 10 ms sooner. */
const ARGON: Argon = {
  hash: async (password, options) => (await import('@node-rs/argon2')).hash(password, options),
  verify: async (stored, password) => (await import('@node-rs/argon2')).verify(stored, password),
};

/** Memory in KiB. */
interface Cost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** One hash takes some 30 ms of a core. */
const COST: Cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash of nothing that anybody knows, at the same cost as the real ones. */
export const DECOY =
  '$argon2id$v=19$m=19456,t=2,p=1$gEfDPAbMZZnDuWzNrSXYhQ$MkSuAK4j3HGE2AFyJbFXsUrlPwPQH7Ey4JZpPH1Gm1M';

/** Two at once leave threads for files and name look-ups; 100 waiting are a few seconds, 20 of one address are an office. */
export function createPasswords(options: PasswordOptions = {}): Passwords {
  const { argon = ARGON, cost = COST, width = 2, waiting = 100, waitingPerKey = 20 } = options;
  const queue = createFairQueue({ width, waiting, waitingPerKey });
  return {
    hash: (password, by) => queue.run(by, () => argon.hash(password, cost)),
    verify: (stored, password, by) =>
      queue.run(by, async () => {
        const decoy = cost === COST ? DECOY : await argon.hash('nobody', cost);
        const matches = await argon.verify(stored ?? decoy, password);
        return stored !== null && matches;
      }),
  };
}
