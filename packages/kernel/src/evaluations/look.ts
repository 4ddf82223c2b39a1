import { AppError } from '../errors.ts';
import type { WorkerPool } from '../workers/pool.ts';
import { defineTask } from '../workers/task.ts';
import type { Expected, Looked, run } from './look.task.ts';

/** Made when it is asked for: a program that evaluates nothing is packed without it. */
const looking = () => defineTask<typeof run>(new URL('./look.task.ts', import.meta.url), 2_000);

/** Looks at a text in a thread. What takes too long is not met. */
export async function lookAt(pool: WorkerPool, owner: string, text: string, expected: Expected): Promise<Looked> {
  try {
    return await pool.run(looking(), { text, expected }, { key: owner });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return { passed: false, says: 'This takes too long to look for in the answer. Make it simpler' };
  }
}
