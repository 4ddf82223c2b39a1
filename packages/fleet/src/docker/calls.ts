import { AppError } from '@troupe/kernel';
import { DriverError } from '../driver.ts';

/** What a call fails with when nobody is there. */
const AWAY = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND']);
/** It is not there, is so already, or is being removed at this moment. */
const GONE = new Set([404, 304, 409]);
/** Too few managers of a swarm are left, or none answers in time; also: this engine manages none. */
const NO_LEADER = 503;

/** Nobody is there, or a swarm has nobody who decides: what was asked for may be there all the same. */
export class EngineAway extends DriverError {}

/** What the engine says, as a sentence. */
export async function ask<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (AWAY.has((error as { code?: string }).code ?? ''))
      throw new EngineAway('The container engine is not available', error);
    const { json, reason, message } = error as { json?: { message?: string }; reason?: string; message: string };
    const Refusal = (error as { statusCode?: number }).statusCode === NO_LEADER ? EngineAway : DriverError;
    throw new Refusal(`The container engine refused: ${(json?.message ?? reason ?? message).trim()}`, error);
  }
}

const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (GONE.has((error as { statusCode?: number }).statusCode ?? 0)) return undefined;
    throw error;
  });

/** The same, of something that need not be there. */
export const askIfThere = <T>(work: Promise<T>): Promise<T | undefined> => ask(unlessGone(work));
