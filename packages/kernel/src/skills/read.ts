import { AppError } from '../errors.ts';
import type { WorkerPool } from '../workers/pool.ts';
import { defineTask } from '../workers/task.ts';
import type { run, SkillGiven, SkillReading } from './read.task.ts';

/** Made when it is asked for: a program that reads no skills is packed without it. */
const reading = () => defineTask<typeof run>(new URL('./read.task.ts', import.meta.url), 10_000);

/** Reads and looks through a skill that a user sent, in a thread. One that takes too long is none. */
export async function readSkillOf(pool: WorkerPool, owner: string, given: SkillGiven): Promise<SkillReading> {
  try {
    return await pool.run(reading(), given, { key: owner });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return { ok: false, error: 'It takes too long to read. Make it simpler' };
  }
}
