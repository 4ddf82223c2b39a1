import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createStandIn } from '@troupe/ai';
import { createDatabase, installJobs, migrate, startEmbedded, type Database } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { clockLibrary } from '@troupe/testing/machine/needs';
import { freePorts } from '@troupe/testing/processes/program';
import { startService } from '@troupe/testing/processes/service';
import { listens, member, ofService, startProgram, until, type Member } from './members.ts';

/**
 * Three webs and three backends on a PostgreSQL that commits durably and a Redis, with nginx in front of the webs and between
 * web and backends, as docs/deploy.md says. Each can be killed, and comes back as its watcher would bring it.
 */

const EACH = 3;
/** Of a backend's own disk, where we may make one. */
export const DISK_BYTES = 64 * 1024 * 1024;

export interface World {
  /** Of nginx, which leads to the webs. */
  address: string;
  db: Database;
  webs: Member[];
  backends: Member[];
  database: Member;
  redis: Member;
  proxy: Member;
  /** Where each backend keeps what it can lose. */
  dataDirs: string[];
  /** Whether each of these is a disk of its own. */
  smallDisks: boolean;
  /** Where the last backend is told how far its clock is ahead (`+360`), where a library for that is here. */
  clockFile: string | undefined;
  stop: () => Promise<void>;
}

type Closing = (() => Promise<unknown>)[];

export async function startWorld(): Promise<World> {
  const closing: Closing = [];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    return { ...(await open(closing)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(closing: Closing): Promise<Omit<World, 'stop'>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-rounds-'));
  await chmod(folder, 0o755);
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const { url, db, database } = await openDatabase(path.join(folder, 'database'), closing);
  const upstream = await createStandIn();
  closing.push(() => upstream.close());
  const [redisPort, front, inner, ...ports] = (await freePorts(3 + 2 * EACH)) as [number, number, number, ...number[]];
  const [webPorts, backendPorts] = [ports.slice(0, EACH), ports.slice(EACH)];
  const redisArgs = ['--port', `${redisPort}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const redis = await member(
    'redis',
    () => startProgram('redis-server', redisArgs),
    () => listens(redisPort),
  );
  closing.push(redis.stop);
  const config = path.join(folder, 'nginx.conf');
  await writeFile(config, proxyConfig(folder, { [front]: webPorts, [inner]: backendPorts }));
  const proxy = await member(
    'nginx',
    () => startProgram('nginx', ['-c', config, '-p', folder]),
    () => listens(front),
  );
  closing.push(proxy.stop);
  const settings = {
    DATABASE_URL: url,
    DATABASE_POOL: '3',
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    OPENROUTER_API_KEY: 'k',
    OPENROUTER_BASE_URL: upstream.url,
    BACKEND_URL: `http://127.0.0.1:${inner}`,
    TRUST_PROXY: '1',
  };
  const clockFile = path.join(folder, 'clock');
  const library = clockLibrary();
  await writeFile(clockFile, '+0');
  const ownClock = {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const dataDirs = ports.map((port) => path.join(folder, `data-${port}`));
  for (const dataDir of dataDirs) await mkdir(dataDir);
  const smallDisks = dataDirs.slice(EACH).every((dataDir) => mountDisk(dataDir, closing));
  const service = async (app: 'web' | 'backend', port: number): Promise<Member> => {
    const last = port === backendPorts.at(-1) && library !== undefined;
    const env = {
      ...settings,
      ...(last && ownClock),
      DATA_DIR: dataDirs[ports.indexOf(port)]!,
      [app === 'web' ? 'WEB_PORT' : 'BACKEND_PORT']: `${port}`,
    };
    const name = `${app} ${(ports.indexOf(port) % EACH) + 1}`;
    const made = await member(
      name,
      async () => ofService(await startService(app, env)),
      () => listens(port),
    );
    closing.push(made.stop);
    return made;
  };
  const backends = await inTurn(backendPorts, (port) => service('backend', port));
  const webs = await inTurn(webPorts, (port) => service('web', port));
  const address = `http://127.0.0.1:${front}`;
  await until(async () => (await fetch(`${address}/health`)).ok, 'the platform');
  return {
    address,
    db,
    webs,
    backends,
    database,
    redis,
    proxy,
    dataDirs: dataDirs.slice(EACH),
    smallDisks,
    clockFile: library === undefined ? undefined : clockFile,
  };
}

function mountDisk(folder: string, closing: Closing): boolean {
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]).status === 0;
  if (made) closing.push(async () => void spawnSync('umount', ['-l', folder]));
  return made;
}

async function openDatabase(
  dataDir: string,
  closing: Closing,
): Promise<{ url: string; db: Database; database: Member }> {
  const server = await startEmbedded({ dataDir, log: silentLog });
  closing.push(() => server.stop());
  await migrate({ url: server.url, log: silentLog });
  await installJobs(server.url, silentLog);
  const db = createDatabase({ url: server.url, log: silentLog, poolSize: 2 });
  closing.push(() => db.close());
  const signal = (name: NodeJS.Signals) => void process.kill(server.pid(), name);
  const database: Member = {
    name: 'postmaster',
    signal,
    pid: server.pid,
    // Whoever made it brings it back.
    async kill() {
      signal('SIGKILL');
      await until(() => db.ping().then(() => true), 'the database');
    },
  };
  return { url: server.url, db, database };
}

async function inTurn<In, Out>(given: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const made: Out[] = [];
  for (const one of given) made.push(await work(one));
  return made;
}

/** As docs/deploy.md says, without TLS. */
function proxyConfig(folder: string, ways: Readonly<Record<number, readonly number[]>>): string {
  const servers = Object.entries(ways).map(
    ([port, behind]) => `
  upstream to_${port} { ${behind.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join(' ')} keepalive 32; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://to_${port};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 15m;
      client_max_body_size 33m;
    }
  }`,
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/nginx-${name};`,
  );
  return `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.join('\n  ')}${servers.join('')}
}
`;
}
