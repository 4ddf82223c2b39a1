import type pg from 'pg';
import { randomHex, StartError, type Settings } from '@troupe/kernel';
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
  const pooled = await withClients(url, 1, ([client]) => isPooled(client!));
  if (pooled && direct === undefined)
    throw new StartError(
      'DATABASE_URL leads to a connection pooler: set DATABASE_DIRECT_URL to the PostgreSQL server itself, which migrations, jobs and notifications need.',
    );
  const prepared = (settings.DATABASE_PREPARED ?? (pooled ? 'off' : 'on')) === 'on';
  if (pooled && prepared && (await withClients(url, TOGETHER, mixesStatements)))
    throw new StartError(
      'The connection pooler of DATABASE_URL does not keep prepared statements of its clients apart, and DATABASE_PREPARED is on: leave DATABASE_PREPARED out, or let the pooler keep them (PgBouncer 1.21 or newer, with max_prepared_statements above 0).',
    );
  return { direct: direct ?? url, pooled, prepared };
}

async function withClients<T>(url: string, count: number, work: (clients: pg.Client[]) => Promise<T>): Promise<T> {
  const clients: pg.Client[] = [];
  try {
    while (clients.length < count) clients.push(await connectOnce(url));
    return await work(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function isPooled(client: pg.Client): Promise<boolean> {
  return (await pidOf(client)) !== (client as unknown as { processID: number }).processID;
}

async function pidOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
}

/** Several poolers may stand behind one name: of so many clients some meet in one of them. */
const TOGETHER = 4;
const ROUNDS = 5;

/** Clients meet in the connections to the server, and their statements have the names there that the clients gave them. */
async function mixesStatements(clients: pg.Client[]): Promise<boolean> {
  return (await keepsNames(clients[0]!)) && (await share(clients));
}

/** Whether a statement has its own name on the server; a pooler that keeps them apart gives it one of its making. */
async function keepsNames(client: pg.Client): Promise<boolean> {
  const name = `troupe_${randomHex(8)}`;
  await client.query('begin');
  const { rows } = await client.query({
    name,
    text: 'select 1 from pg_prepared_statements where name = $1',
    values: [name],
  });
  if (rows.length > 0) await client.query(`deallocate "${name}"`);
  await client.query('commit');
  return rows.length > 0;
}

/** A pooler that gives each client a connection of its own for as long as it stays breaks no names. */
async function share(clients: pg.Client[]): Promise<boolean> {
  const ownerOf = new Map<number | undefined, pg.Client>();
  const pids = new Map<pg.Client, number | undefined>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const client of clients) {
      const pid = await pidOf(client);
      const isOwn = (ownerOf.get(pid) ?? client) === client && (pids.get(client) ?? pid) === pid;
      if (!isOwn) return true;
      ownerOf.set(pid, client);
      pids.set(client, pid);
    }
  return false;
}
