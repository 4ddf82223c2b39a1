import path from 'node:path';
import { StartError } from '@troupe/kernel';

/** Runs a script that takes the name of a file; what it cannot do is one sentence and exit code 1. */
export async function command(work: (args: [file: string]) => Promise<void>): Promise<void> {
  const [file] = process.argv.slice(2);
  try {
    if (!file)
      throw new StartError(
        'Name a file: npm run backup FILE, npm run restore FILE, npm run agent:image FILE, or npm run outbox FOLDER.',
      );
    // npm goes to the project's folder, and says where it was called
    await work([file === '-' ? file : path.resolve(process.env['INIT_CWD'] ?? '.', file)]);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
