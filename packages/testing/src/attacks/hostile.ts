import type { Scene } from './scene.ts';

/** One attack of one user on all others. */
interface Hostile {
  /**
   * Runs until it is over or the signal says so. What the platform answers does not count here, a refusal least of all:
   * it is the others who are looked at.
   */
  attack: (signal: AbortSignal) => Promise<unknown>;
  /** Takes away what was made for it. */
  end: () => Promise<void>;
}

/** Makes what the attack needs, which harms nobody yet. */
export type Prepare = (scene: Scene) => Promise<Hostile>;

/** Waits for work that may hang, no longer than the signal lets it. */
export async function unless(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  const over = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  // A platform that breaks the connection is seen by those who look at the others.
  await Promise.race([work.catch(() => {}), signal.aborted ? undefined : over]);
}

export const nothing = async (): Promise<void> => {};
