import { AppError } from '../errors.ts';
import type { WorkerPool } from '../workers/pool.ts';
import { defineTask } from '../workers/task.ts';
import type { ImportReading, ImportSent, run } from './read.task.ts';

export type { ImportPlan } from './read.task.ts';

/** Made when it is asked for: a program that imports nothing is packed without it. */
const reading = () => defineTask<typeof run>(new URL('./read.task.ts', import.meta.url), 20_000);

/** Reads files of others in a thread, which has their bytes then. What takes too long is not taken. */
export async function readImportOf(pool: WorkerPool, owner: string, given: ImportSent): Promise<ImportReading> {
  try {
    return await pool.run(reading(), given, { key: owner, give: [given.bytes.buffer] });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return { ok: false, error: 'It takes too much time or memory to read. Make it smaller' };
  }
}
