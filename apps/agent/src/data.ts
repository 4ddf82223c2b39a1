import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pipeline as joined, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { archiveOf, createJail, unpackItem, WORKSPACE_ENTRIES } from '@troupe/agent';
import { AppError, sameSecret, tar, untar, type Log, type TarEntry } from '@troupe/kernel';
import { holdData, isOfHolding } from './holding.ts';
import type { DataSettings } from './settings.ts';

/**
 * The data of an agent, over HTTP: where nobody but a container reaches a volume, this program runs in one beside the
 * agent, or while it is stopped, and gives the data out or replaces it. Its names in the archive are those that an
 * engine gives that copies the folder itself.
 */

const UNDER = 'data';
const DATABASE = 'agent.db';
/** Made and removed by ourselves. */
const COPY = '.copy.db';
const RESTORING = '.restoring';
const OURS = new Set(
  [COPY, RESTORING, DATABASE].flatMap((name) => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
);
const isOurs = (name: string): boolean => OURS.has(name) || isOfHolding(name);
/** A workspace, and what the agent keeps beside it. */
const MOST_ENTRIES = 2 * WORKSPACE_ENTRIES;

/** The image has no program for it. */
const removeTree = (at: string): Promise<void> => rm(at, { recursive: true, force: true });
const hasFile = async (file: string): Promise<boolean> => (await stat(file).catch(() => undefined)) !== undefined;

/** Of one moment, however much the agent writes meanwhile. */
async function copyDatabase(database: string, copy: string): Promise<void> {
  await removeTree(copy);
  const db = new DatabaseSync(database);
  try {
    db.exec('pragma busy_timeout = 5000');
    await backup(db, copy);
  } finally {
    db.close();
  }
}

async function* archived(dataDir: string, owner: number): AsyncGenerator<TarEntry> {
  const database = path.join(dataDir, DATABASE);
  const copy = path.join(dataDir, COPY);
  yield { path: `${UNDER}/`, mode: 0o700, owner };
  if (await hasFile(database)) {
    try {
      await copyDatabase(database, copy);
      const { size } = await stat(copy);
      yield { path: `${UNDER}/${DATABASE}`, mode: 0o600, owner, file: { size, read: () => createReadStream(copy) } };
    } finally {
      await removeTree(copy);
    }
  }
  for await (const entry of archiveOf(createJail(dataDir), '.', UNDER, { entries: MOST_ENTRIES }))
    if (!isOurs(entry.path.split('/')[1] ?? '')) yield { ...entry, owner };
}

async function give(dataDir: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-tar' });
  await pipeline(Readable.from(tar(archived(dataDir, process.getuid?.() ?? 0)), { objectMode: false }), response);
}

/** Reads all of it before anything of the agent is touched. To be done again when it was cut short. */
async function take(dataDir: string, request: IncomingMessage): Promise<void> {
  const beside = path.join(dataDir, RESTORING);
  await removeTree(beside);
  await mkdir(beside, { mode: 0o700 });
  const jail = createJail(beside);
  // What fails is thrown by the last of them.
  for await (const item of untar(joined(request, createGunzip(), () => {}))) {
    const inside = path.posix.relative(UNDER, path.posix.normalize(item.path));
    if (inside !== '') await unpackItem(jail, inside, item);
  }
  for (const name of await readdir(dataDir))
    if (name !== RESTORING && !isOfHolding(name)) await removeTree(path.join(dataDir, name));
  for (const name of await readdir(beside)) await rename(path.join(beside, name), path.join(dataDir, name));
  await removeTree(beside);
}

/** While nobody else uses it: on a machine that is cut off the agent may still run. */
async function held(settings: DataSettings, log: Log, work: () => Promise<void>): Promise<void> {
  const { DATA_DIR: folder, DATA_PLACE: place } = settings;
  let isLost = false;
  const lose = () => void (isLost = true);
  const holding = await holdData({ folder, place, log, onClaimed: lose, onLost: lose });
  try {
    await work();
  } finally {
    await holding.close();
  }
  if (isLost) throw new AppError(409, 'Another program took the data over');
}

export async function startData({ settings, log }: { settings: DataSettings; log: Log }) {
  const { DATA_DIR: dataDir, DATA_TOKEN: token, HOST, PORT } = settings;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  let taking = false;
  async function alone(work: () => Promise<void>): Promise<void> {
    if (taking) throw new AppError(409, 'The data is being replaced already');
    taking = true;
    try {
      await (settings.DATA_SHARED === 'on' ? held(settings, log, work) : work());
    } finally {
      taking = false;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = `${request.method} ${request.url}`;
    if (asked === 'GET /health') return void response.end('{"status":"ok"}');
    const shown = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (!sameSecret(shown, token)) throw new AppError(401, 'Unauthorized');
    if (asked === 'GET /data') return give(dataDir, response);
    if (asked !== 'PUT /data') throw new AppError(404, 'Not found');
    await alone(() => take(dataDir, request));
    response.writeHead(204).end();
  }

  const server = http.createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'the data could not be given or taken');
      // An archive that is cut short is seen to be.
      if (response.headersSent) return void response.destroy();
      const { status, message } = error instanceof AppError ? error : { status: 500, message: 'Internal server error' };
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify({ error: message }));
    });
  });
  // An archive takes as long as it takes; whoever asked for it goes away when that is too long.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
