import pg from 'pg';

const CONNECT_MS = 2000;

/** Of an embedded server's database. */
export const urlOf = (port: string | number, sockets: string): string =>
  `postgresql://troupe@localhost:${port}/troupe?host=${encodeURIComponent(sockets)}`;

/** Whether somebody answers there: the files of a killed server may be left. */
export async function reachable(port: string, sockets: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(port, sockets), connectionTimeoutMillis: CONNECT_MS });
  // It may go while we ask.
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
