import { CallError } from '@troupe/contract';
import { statusOf } from './api.ts';

/** When a read that failed is asked for once more. */

const LONGEST_WAIT_S = 60;
const JITTER_MS = 500;

/** Another try would be told the same; except that who was too fast may come back. */
function isFinal(error: Error): boolean {
  const status = statusOf(error) ?? 500;
  return (status > 0 && status < 500 && status !== 429) || status === 501;
}

export const isTooFast = (error: Error | null): boolean => error !== null && statusOf(error) === 429;

export const retry = (tries: number, error: Error): boolean => tries < 2 && !isFinal(error);

/** After as long as the platform says, and not all at the same moment. */
export function retryDelay(tries: number, error: Error, random: () => number = Math.random): number {
  const said = error instanceof CallError && isTooFast(error) ? Number(error.headers['retry-after']) : Number.NaN;
  return Number.isFinite(said) && said >= 0
    ? Math.min(said, LONGEST_WAIT_S) * 1000 + random() * JITTER_MS
    : Math.min(1000 * 2 ** tries, 30_000);
}
