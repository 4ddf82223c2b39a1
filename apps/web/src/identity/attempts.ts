import { AppError, type Counters } from '@troupe/kernel';

const LIMIT = 5;
const WINDOW_MS = 15 * 60_000;

/** Counts failed passwords. `guard` runs `verify` and tells its result, or refuses after five failures in 15 minutes. */
export interface Attempts {
  guard: (key: string, verify: () => Promise<boolean>) => Promise<boolean>;
}

export function createAttempts(counters: Counters): Attempts {
  const refuse = () => new AppError(429, 'Too many login attempts. Try again in 15 minutes.');
  const isSpent = async (key: string) => ((await counters.peek(key))?.count ?? 0) >= LIMIT;

  return {
    async guard(name, verify) {
      const key = `attempts:${name}`;
      if (await isSpent(key)) throw refuse();
      const matches = await verify();
      if (!matches) {
        const { count } = await counters.hit(key, WINDOW_MS);
        if (count > LIMIT) throw refuse();
        return false;
      }
      // Many tried at once: whatever came true after the fifth failure does not count.
      if (await isSpent(key)) throw refuse();
      await counters.clear(key);
      return true;
    },
  };
}
