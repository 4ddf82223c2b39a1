import { createPasswords } from '@troupe/accounts';

/** Hashed in no time: that it takes long on purpose has tests of its own, and each sign-up with its sign-in takes it twice. */
export const quickPasswords = () => createPasswords({ cost: { memoryCost: 8, timeCost: 1, parallelism: 1 } });
