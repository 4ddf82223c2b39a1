import { AppError, iso, type Clock } from '@troupe/kernel';

export type Clones = ReturnType<typeof createClones>;

/** Part of the contract before there is anything behind it. */
export const createClones = (clock: Clock) => ({
  clone(): never {
    throw new AppError(501, 'Agent cloning is not available yet');
  },
  describe: () => ({
    status: 'ok' as const,
    service: 'agent-clone',
    available: false,
    protocol: { name: 'clone', version: '1.0', methods: ['POST'], payment: false },
    timestamp: iso(clock()),
  }),
});
