import { CallError } from '@troupe/contract';
import { AppError } from '@troupe/kernel';

const UNAVAILABLE = 'Agent backend unavailable';

/** A call to the backend: what it refuses is told on, what it cannot answer is a 502. */
export async function reach<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asAppError(error);
  }
}

export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof CallError) {
    const { error: message, ...extra } = error.body;
    return new AppError(error.status, typeof message === 'string' ? message : UNAVAILABLE, extra, { cause: error });
  }
  return new AppError(502, UNAVAILABLE, {}, { cause: error });
}
