import { CallError } from '@troupe/contract';
import { AppError } from '@troupe/kernel';

/** Answers what the backend answered, errors included; 502 when it does not answer. */
export async function passOn<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CallError && error.status < 500) throw new AppError(error.status, error.message, error.body);
    throw new AppError(502, 'Backend unavailable', {}, { cause: error });
  }
}
