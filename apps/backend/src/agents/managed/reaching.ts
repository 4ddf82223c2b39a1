import { CallError } from '@troupe/contract';
import { AppError } from '@troupe/kernel';

/** Passes on what the agent refuses, in its own words. */
export function toldBy(error: unknown): never {
  if (error instanceof CallError) throw new AppError(error.status, error.message, {}, { cause: error });
  throw error;
}
