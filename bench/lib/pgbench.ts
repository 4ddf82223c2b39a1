import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** PostgreSQL's own load generator: what the server gives whoever does nothing but ask. */

interface PgbenchOptions {
  url: string;
  /** Sent together, as one round trip. */
  statements: readonly string[];
  clients: number;
  seconds: number;
}

/** Round trips a second; undefined where there is no pgbench. */
export async function pgbench({ url, statements, clients, seconds }: PgbenchOptions): Promise<number | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'troupe-pgbench-'));
  const file = path.join(folder, 'script.sql');
  writeFileSync(file, `\\startpipeline\n${statements.join(';\n')};\n\\endpipeline\n`);
  const args = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '1', '-T', `${seconds}`, '-f', file, url];
  try {
    const { stdout } = await promisify(execFile)('pgbench', args);
    return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
