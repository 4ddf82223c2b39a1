import { AppError, defineTask, type WorkerPool } from '@troupe/kernel';
import type { Mail } from './mime.ts';
import type { run } from './read.task.ts';

/** Made when it is asked for: a program that has no mail is packed without it. */
const reading = () => defineTask<typeof run>(new URL('./read.task.ts', import.meta.url), 20_000);

/** Reads a mail in a thread: anybody may have written it. Undefined: it takes too much time or memory. */
export async function readInThread(pool: WorkerPool, owner: string, raw: Buffer): Promise<Mail | undefined> {
  try {
    const mail = await pool.run(reading(), raw, { key: owner, lane: 'mail' });
    const files = mail.files.map(({ name, bytes }) => ({
      name,
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    }));
    return { ...mail, files };
  } catch (error) {
    if (error instanceof AppError && error.status === 422) return undefined;
    throw error;
  }
}
