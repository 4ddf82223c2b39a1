import { AppError } from '../errors.ts';
import type { WorkerPool } from './pool.ts';
import { defineTask } from './task.ts';
import type { run, TeamGiven } from './team.task.ts';

const READ = defineTask<typeof run>(new URL('./team.task.ts', import.meta.url), 5_000);

/** Reads a team that a user sent, in a thread. One that takes too long is no team. */
export async function readTeamOf(
  pool: WorkerPool,
  owner: string,
  given: TeamGiven,
): Promise<Awaited<ReturnType<typeof run>>> {
  try {
    return await pool.run(READ, given, { key: owner });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    return { reading: { ok: false, error: 'Invalid team: it takes too long to read. Make it simpler.' }, yaml: '' };
  }
}
