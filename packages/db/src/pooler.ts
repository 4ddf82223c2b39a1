import { StartError, type Settings } from '@troupe/kernel';
import { connectOnce } from './migrate.ts';

/** How the database is reached. */
export interface Way {
  /** The server itself. */
  direct: string;
  /** A pooler stands between, which may give each transaction another connection to the server. */
  pooled: boolean;
  /** Whether statements may be kept by name. */
  prepared: boolean;
}

/**
 * A pooler is told from a server by the number of the connection: it makes up its own. What it would break, it does not
 * get: listening, jobs and migrations need one connection to the server for longer than a transaction.
 */
export async function findWay(
  url: string,
  settings: Pick<Settings, 'DATABASE_DIRECT_URL' | 'DATABASE_PREPARED'>,
): Promise<Way> {
  const direct = settings.DATABASE_DIRECT_URL;
  const pooled = await isPooled(url);
  if (pooled && direct === undefined)
    throw new StartError(
      'DATABASE_URL leads to a connection pooler: set DATABASE_DIRECT_URL to the PostgreSQL server itself, which migrations, jobs and notifications need.',
    );
  return { direct: direct ?? url, pooled, prepared: (settings.DATABASE_PREPARED ?? (pooled ? 'off' : 'on')) === 'on' };
}

async function isPooled(url: string): Promise<boolean> {
  const client = await connectOnce(url);
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return rows[0]?.pid !== (client as unknown as { processID: number }).processID;
  } finally {
    await client.end();
  }
}
