import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePorts } from '../processes/program.ts';

/** PgBouncer, in transaction mode unless said, with few connections to the server, so that clients meet in them. */
export interface Pooler {
  /** The same database through the pooler. */
  to: (url: string) => string;
  close: () => Promise<void>;
}

export async function startPooler(
  serverUrl: string,
  {
    serverConnections = 2,
    mode = 'transaction',
  }: { serverConnections?: number; mode?: 'transaction' | 'session' } = {},
): Promise<Pooler> {
  const { searchParams, username, port: serverPort } = new URL(serverUrl);
  const [port] = await freePorts(1);
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-pgbouncer-'));
  await chmod(folder, 0o755);
  const file = (name: string): string => path.join(folder, name);
  await writeFile(file('users.txt'), `"${username}" ""\n`);
  await writeFile(
    file('pgbouncer.ini'),
    `[databases]
* = host=${searchParams.get('host')} port=${serverPort || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${file('users.txt')}
pool_mode = ${mode}
default_pool_size = ${serverConnections}
max_client_conn = 200
`,
  );
  // Like the server, it does not run as root; and only the server's user reaches the server's socket.
  const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];
  const [command, ...args] = [...asNobody, 'pgbouncer', file('pgbouncer.ini')];
  const said: string[] = [];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void said.push(String(chunk)));
  const to = (url: string): string => `postgresql://${username}@127.0.0.1:${port}${new URL(url).pathname}`;
  for (;;) {
    const client = new pg.Client({ connectionString: to(serverUrl) });
    try {
      await client.connect();
      await client.end();
      break;
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${said.join('')}`, { cause: error });
      await delay(100);
    }
  }
  return {
    to,
    async close() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
