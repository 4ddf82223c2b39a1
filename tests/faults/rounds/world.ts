import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, installJobs, migrate, startEmbedded, type Database } from '@troupe/db';
import { silentLog } from '@troupe/kernel';
import { clockLibrary } from '@troupe/testing/machine/needs';
import { freePorts, listens } from '@troupe/testing/processes/program';
import { startService } from '@troupe/testing/processes/service';
import { member, ofService, startProgram, until, type Member } from './members.ts';
import { createModel } from './model.ts';

/**
 * Three webs and three backends on a PostgreSQL that commits durably and a Redis, with nginx in front of the webs and between
 * web and backends, as docs/deploy.md says. Each can be killed, and comes back as its watcher would bring it.
 */

const EACH = 3;
/** Of a backend's own disk, where we may make one. */
export const DISK_BYTES = 64 * 1024 * 1024;

type Start = typeof startService;

/** A web or a backend. */
interface Service extends Member {
  /** Stops it in peace, and starts it in its place from another release. */
  exchange: (start: Start) => Promise<void>;
}

export interface WorldOptions {
  /** Of an older release, whose migrations the database then begins with. Left out: of this one. */
  start?: Start;
  /** How long the model takes for an answer. */
  modelMs?: number;
  /** Files in one folder of all backends, as releases before the blob store have them. */
  sharedFolder?: boolean;
}

export interface World {
  /** Of nginx, which leads to the webs. */
  address: string;
  db: Database;
  webs: Service[];
  backends: Service[];
  database: Member;
  redis: Member;
  proxy: Member;
  /** Where each backend keeps what it can lose. */
  dataDirs: string[];
  /** Whether each of these is a disk of its own. */
  smallDisks: boolean;
  /** Where the last backend is told how far its clock is ahead (`+360`), where a library for that is here. */
  clockFile: string | undefined;
  databaseUrl: string;
  /** What nginx did: a line for each request, with all whom it asked. */
  proxyLog: string;
  proxyErrors: string;
  /** Aborted when it is stopped: who writes and follows by himself ends with it, however a test went. */
  over: AbortSignal;
  stop: () => Promise<void>;
}

type Closing = (() => Promise<unknown>)[];

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const closing: Closing = [];
  const over = new AbortController();
  const stop = async () => {
    over.abort();
    const failed: unknown[] = [];
    // all of them, whatever one says: a process that is left keeps the test's from ending
    for (const close of closing.splice(0).reverse()) await close().catch((error: unknown) => failed.push(error));
    if (failed.length > 0) throw new AggregateError(failed, 'not all of the world could be stopped');
  };
  try {
    return { ...(await open(closing, options)), over: over.signal, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(
  closing: Closing,
  { start, modelMs, sharedFolder }: WorldOptions,
): Promise<Omit<World, 'over' | 'stop'>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-rounds-'));
  await chmod(folder, 0o755);
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const { url, db, database } = await openDatabase(path.join(folder, 'database'), start === undefined, closing);
  const upstream = await createModel(modelMs);
  closing.push(() => upstream.close());
  const [redisPort, front, inner, ...ports] = (await freePorts(3 + 2 * EACH)) as [number, number, number, ...number[]];
  const [webPorts, backendPorts] = [ports.slice(0, EACH), ports.slice(EACH)];
  const redis = await openRedis(folder, redisPort, closing);
  const proxy = await openProxy(folder, { [front]: webPorts, [inner]: backendPorts }, closing);
  const settings = {
    DATABASE_URL: url,
    DATABASE_POOL: '3',
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    OPENROUTER_API_KEY: 'k',
    OPENROUTER_BASE_URL: upstream.url,
    BACKEND_URL: `http://127.0.0.1:${inner}`,
    TRUST_PROXY: '1',
    ...(sharedFolder && { BLOB_STORE: 'folder' }),
  };
  const clock = await ownClock(folder);
  const dataDirs = ports.map((port) => path.join(folder, `data-${port}`));
  for (const dataDir of dataDirs) await mkdir(dataDir);
  const smallDisks = !sharedFolder && dataDirs.slice(EACH).every((dataDir) => mountDisk(dataDir, closing));
  const service = (app: 'web' | 'backend', port: number): Promise<Service> => {
    const last = port === backendPorts.at(-1);
    const env = {
      ...settings,
      ...(last && clock?.env),
      DATA_DIR: dataDirs[sharedFolder ? EACH : ports.indexOf(port)]!,
    };
    const name = `${app} ${(ports.indexOf(port) % EACH) + 1}`;
    return openService({ app, name, port, env, start: start ?? startService }, closing);
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
    clockFile: clock?.file,
    databaseUrl: url,
    proxyLog: path.join(folder, 'requests.log'),
    proxyErrors: path.join(folder, 'nginx.log'),
  };
}

async function openService(
  given: { app: 'web' | 'backend'; name: string; port: number; env: Record<string, string>; start: Start },
  closing: Closing,
): Promise<Service> {
  const { app, name, port, start } = given;
  const env = { ...given.env, [app === 'web' ? 'WEB_PORT' : 'BACKEND_PORT']: `${port}` };
  const running = (by: Start) => async () => ofService(await by(app, env));
  const made = await member(name, running(start), () => listens(port));
  closing.push(made.stop);
  return { ...made, exchange: (other) => made.exchange(running(other)) };
}

async function openRedis(folder: string, port: number, closing: Closing): Promise<Member> {
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const redis = await member(
    'redis',
    () => startProgram('redis-server', args),
    () => listens(port),
  );
  closing.push(redis.stop);
  return redis;
}

async function openProxy(folder: string, ways: Ways, closing: Closing): Promise<Member> {
  const config = path.join(folder, 'nginx.conf');
  await writeFile(config, proxyConfig(folder, ways));
  const proxy = await member(
    'nginx',
    () => startProgram('nginx', ['-c', config, '-p', folder]),
    () => listens(Number(Object.keys(ways)[0])),
  );
  closing.push(proxy.stop);
  return proxy;
}

/** For one process whose clock can be set, where a library for that is here. */
async function ownClock(folder: string): Promise<{ file: string; env: Record<string, string> } | undefined> {
  const library = clockLibrary();
  if (library === undefined) return undefined;
  const file = path.join(folder, 'clock');
  await writeFile(file, '+0');
  return {
    file,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}

function mountDisk(folder: string, closing: Closing): boolean {
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]).status === 0;
  if (made) closing.push(async () => void spawnSync('umount', ['-l', folder]));
  return made;
}

async function openDatabase(
  dataDir: string,
  isOurs: boolean,
  closing: Closing,
): Promise<{ url: string; db: Database; database: Member }> {
  const server = await startEmbedded({ dataDir, log: silentLog });
  closing.push(() => server.stop());
  if (isOurs) {
    await migrate({ url: server.url, log: silentLog });
    await installJobs(server.url, silentLog);
  }
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
      await until(() => takesNew(server.url), 'the database');
    },
  };
  return { url: server.url, db, database };
}

/** A connection of before says nothing: it outlives the postmaster for a moment. */
async function takesNew(url: string): Promise<boolean> {
  const db = createDatabase({ url, log: silentLog, poolSize: 2 });
  try {
    await db.ping();
    return true;
  } finally {
    await db.close();
  }
}

async function inTurn<In, Out>(given: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const made: Out[] = [];
  for (const one of given) made.push(await work(one));
  return made;
}

/** From a port to those behind it. */
type Ways = Readonly<Record<number, readonly number[]>>;

/** As docs/deploy.md says, without TLS. */
function proxyConfig(folder: string, ways: Ways): string {
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
  log_format asked '$status $server_port "$request" $upstream_addr | $upstream_status';
  access_log ${folder}/requests.log asked;
  ${temporary.join('\n  ')}${servers.join('')}
}
`;
}
