import { CallError } from '@troupe/contract';
import { AppError } from '@troupe/kernel';

const NO_AGENTS = 'Agent backend unavailable';

/** A call to the backend about an agent: what it refuses is told on, what it cannot answer is a 502. */
export async function reach<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asAppError(error);
  }
}

/** A call that is the backend's own, which web only passes on: its refusals as they are, its faults are a 502. */
export async function passOn<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CallError && isOurs(error) && (error.status < 500 || isNotNow(error))) throw asAppError(error);
    throw new AppError(502, 'Backend unavailable', {}, { cause: error });
  }
}

/** A proxy in between answers with pages of its own: then the backend was not reached. */
const isOurs = ({ body: { error } }: CallError): boolean => typeof error === 'string';

/** The backend has too much to do, or no database: it says when to come again. */
const isNotNow = ({ status, headers }: CallError): boolean => status === 503 && 'retry-after' in headers;

export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof CallError && isOurs(error)) {
    const { error: message, ...extra } = error.body;
    return new AppError(error.status, String(message), extra, { cause: error, headers: error.headers });
  }
  return new AppError(502, NO_AGENTS, {}, { cause: error });
}
