import { AppError, defineTask, type WorkerPool } from '@troupe/kernel';
import type { Extracted, Given, run } from './extract.task.ts';

/** Made when it is asked for: a program that reads no documents is packed without it. */
const extracting = () => defineTask<typeof run>(new URL('./extract.task.ts', import.meta.url), 60_000);

/** Reads and cuts a document in a thread. One that takes too long or too much memory is told in a sentence. */
export async function extract(pool: WorkerPool, owner: string, given: Given): Promise<Extracted> {
  try {
    return await pool.run(extracting(), given, { key: owner, lane: 'knowledge' });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    const sentence = 'The document takes too much time or memory to read. Cut it into smaller ones.';
    return { ok: false, error: sentence, slow: true };
  }
}
