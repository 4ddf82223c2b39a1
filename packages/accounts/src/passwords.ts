import { hash, verify } from '@node-rs/argon2';
import { createGate } from './gate.ts';

export interface Passwords {
  hash: (password: string) => Promise<string>;
  /** `stored` null: nobody, or somebody without a password. It takes as long, and is false. */
  verify: (stored: string | null, password: string) => Promise<boolean>;
}

interface PasswordOptions {
  /** argon2id; both run on a thread of their own. */
  argon?: {
    hash: (password: string, options: typeof COST) => Promise<string>;
    verify: (stored: string, password: string) => Promise<boolean>;
  };
  width?: number;
  queue?: number;
}

/** Memory in KiB. One hash takes some 30 ms of a core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The hash of nothing that anybody knows, at the same cost as the real ones. */
export const DECOY =
  '$argon2id$v=19$m=19456,t=2,p=1$gEfDPAbMZZnDuWzNrSXYhQ$MkSuAK4j3HGE2AFyJbFXsUrlPwPQH7Ey4JZpPH1Gm1M';

/** Two at once leave threads for files and name look-ups; 100 waiting are a few seconds. */
export function createPasswords({ argon = { hash, verify }, width = 2, queue = 100 }: PasswordOptions = {}): Passwords {
  const gate = createGate({ width, queue });
  return {
    hash: (password) => gate(() => argon.hash(password, COST)),
    verify: (stored, password) =>
      gate(async () => {
        const matches = await argon.verify(stored ?? DECOY, password);
        return stored !== null && matches;
      }),
  };
}
