import type { Log } from '@troupe/kernel';

/** What was made in steps, so that it can be taken back in the other order. */
export interface Undo {
  add: (step: () => Promise<unknown>) => void;
  /** Does the work; when it fails all is taken back, and the failure goes on. */
  unless: <T>(work: () => Promise<T>) => Promise<T>;
}

export function createUndo(log: Log): Undo {
  const steps: (() => Promise<unknown>)[] = [];
  return {
    add: (step) => void steps.push(step),
    async unless(work) {
      try {
        return await work();
      } catch (error) {
        for (const step of steps.toReversed())
          // The first failure is what its owner is told; one of taking back is the operator's to see.
          await step().catch((second: unknown) => log.error({ err: second }, 'what was made could not be taken back'));
        throw error;
      }
    },
  };
}
