import type { ServerResponse } from 'node:http';

/** Who reads nothing for so long is gone, and what feeds the answer is let go. */
export const STALLED_MS = 120_000;

/** Settles when the client has read what was written, or is gone. */
export function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => raw.destroy(), STALLED_MS).unref();
    const go = (): void => {
      clearTimeout(stalled);
      raw.off('drain', go);
      raw.off('close', go);
      resolve();
    };
    raw.on('drain', go);
    raw.on('close', go);
    if (raw.destroyed) go();
  });
}
