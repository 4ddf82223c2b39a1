import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createFairQueue, defineTask, randomHex, type Log, type Outbound, type WorkerPool } from '@troupe/kernel';
import { removeTree } from '../workspace/remove-tree.ts';
import { untilAborted } from '../until-aborted.ts';
import { createHolding } from './holding.ts';
import type { Manifest } from './packument.task.ts';
import { changedUnder, digestOfPackages, otherContents, unlikePromised, type Pin, type Pinned } from './pin.ts';
import { createRegistry } from './registry.ts';
import { resolveTree } from './resolve.ts';
import type { run } from './unpack.task.ts';
import type { Wanted } from './wanted.ts';

/**
 * Programs that are npm packages, as folders on this machine that agents share and none can write to. Each is named by the
 * digest of all that is in it, put in its place whole, and never changes. No script of a package runs when it is installed.
 */

const UNPACK = defineTask<typeof run>(new URL('./unpack.task.ts', import.meta.url), 30_000);

const MB = 1024 * 1024;
/** Of one program, with all that it needs. */
const PROGRAM_BOUNDS = { bytes: 500 * MB, files: 60_000 };
const PACKAGE_BOUNDS = { bytes: 160 * MB, files: 30_000 };
const HOUR_MS = 3_600_000;
const INSTALL_MS = 180_000;
const DOWNLOADS = { width: 4, waiting: 5_000, waitingPerKey: 5_000 };
/** Installs of all users, and of one. */
const AT_ONCE = { width: 3, perKey: 1, waiting: 100, waitingPerKey: 10, waitMs: INSTALL_MS };
const PART = '.part';
const ABOUT = 'program.json';

export interface ShelfOptions {
  root: string;
  /** Where packages come from. */
  registry: string;
  outbound: Outbound;
  pool: WorkerPool;
  log: Log;
  /** Digests that somebody still names; what nobody names is removed. */
  named: () => Promise<ReadonlySet<string>>;
  /** Of all programs together. */
  mostBytes?: number;
  mostPrograms?: number;
  /** What is not named is kept for so long: it may be about to be. */
  graceMs?: number;
  installMs?: number;
}

export interface ProgramShelf {
  /** What the words mean now, installed. Throws a sentence; `before`: what it was pinned to, no version of which may be another now. */
  resolve: (wanted: Wanted, owner: string, options: { signal?: AbortSignal; before?: Pin }) => Promise<Pin>;
  /** Where a pinned program is; fetched again where it is not here. */
  folder: (pin: Pin, owner: string, signal?: AbortSignal) => Promise<string>;
  /** Removes what nobody names. */
  sweep: () => Promise<void>;
}

/** The file that is run. */
function entryOf({ name, bin }: Manifest, wanted: string | undefined): string {
  const plain = name.replace(/^@[^/]+\//, '');
  const names = Object.keys(bin);
  const found = wanted ?? (names.length === 1 ? names[0] : plain);
  const file = found !== undefined && Object.hasOwn(bin, found) ? bin[found] : undefined;
  if (file === undefined)
    throw new Error(
      names.length === 0
        ? `${name} is no program: it has nothing to run`
        : `${name} has the programs ${names.slice(0, 10).join(', ')}: say which, as npx -y -p ${name} ${names[0]}`,
    );
  const entry = path.posix.join('node_modules', name, path.posix.normalize(`/${file}`));
  return entry;
}

type Registry = ReturnType<typeof createRegistry>;
/** What is said of a package with other contents. */
type Unlike = (one: Pinned) => Error;

/** Fetches every package into the folder; answers what was found there, with sums that can be compared again. */
async function fill(
  { registry, pool, owner, unlike }: { registry: Registry; pool: WorkerPool; owner: string; unlike: Unlike },
  folder: string,
  packages: readonly Pinned[],
  signal: AbortSignal,
): Promise<{ packages: Pinned[]; bytes: number }> {
  const queue = createFairQueue(DOWNLOADS);
  const total = { bytes: 0, files: 0 };
  const take = async (one: Pinned, index: number): Promise<Pinned> => {
    const file = path.join(folder, `${index}.tgz`);
    await registry.download(one.tarball, file, signal);
    const bounds = { mostBytes: PACKAGE_BOUNDS.bytes, mostFiles: PACKAGE_BOUNDS.files };
    const unpacking = { file, target: path.join(folder, one.at), integrity: one.integrity, ...bounds };
    const done = await pool.run(UNPACK, unpacking, { key: owner, lane: 'programs', signal }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'EINTEGRITY') throw unlike(one);
      throw new Error(`${one.name} ${one.version} cannot be installed: ${(error as Error).message}`, { cause: error });
    });
    await rm(file);
    total.bytes += done.bytes;
    total.files += done.files;
    if (total.bytes > PROGRAM_BOUNDS.bytes)
      throw new Error(`the program has more than ${PROGRAM_BOUNDS.bytes / MB} MB`);
    if (total.files > PROGRAM_BOUNDS.files) throw new Error(`the program has more than ${PROGRAM_BOUNDS.files} files`);
    return { ...one, integrity: done.integrity };
  };
  const taken = await Promise.all(packages.map((one, index) => queue.run('', () => take(one, index), signal)));
  return { packages: taken, bytes: total.bytes };
}

/** What is there, and how much of it. */
async function stock(root: string): Promise<{ digest: string; bytes: number; usedAt: number }[]> {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = await Promise.all(
    // Locks are no programs.
    names
      .filter((name) => !name.startsWith('.'))
      .map(async (digest) => {
        const at = path.join(root, digest);
        // Another process may just have removed it.
        const about = await readFile(path.join(at, ABOUT), 'utf8').catch(() => undefined);
        const usedAt = (await stat(at).catch(() => undefined))?.mtimeMs;
        if (usedAt === undefined) return [];
        const { bytes } = about === undefined ? { bytes: 0 } : (JSON.parse(about) as { bytes: number });
        return [{ digest, bytes, usedAt }];
      }),
  );
  return found.flat();
}

/** Where these packages are already; undefined: they are not, or their sums are of an old kind that names no folder. */
async function standing(root: string, packages: readonly Pinned[]) {
  if (!packages.every(({ integrity }) => /^sha512-[A-Za-z0-9+/=]+$/.test(integrity))) return undefined;
  const digest = digestOfPackages(packages);
  const folder = path.join(root, digest);
  if (!(await isThere(folder))) return undefined;
  const { bytes } = JSON.parse(await readFile(path.join(folder, ABOUT), 'utf8')) as { bytes: number };
  return { packages: [...packages], bytes, digest, folder };
}

async function isThere(folder: string): Promise<boolean> {
  try {
    const now = new Date();
    await utimes(folder, now, now);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function createSweep({ root, named, log, graceMs = HOUR_MS }: ShelfOptions) {
  return async function sweep(): Promise<void> {
    const before = Date.now() - graceMs;
    const old = (await stock(root)).filter(({ usedAt }) => usedAt <= before);
    if (old.length === 0) return;
    // Asked after the look: what was named meanwhile stays.
    const kept = await named();
    const gone = old.filter(({ digest }) => !kept.has(digest));
    for (const { digest } of gone) await removeTree(path.join(root, digest));
    if (gone.length > 0) log.info({ programs: gone.length }, 'programs that nobody names were removed');
  };
}

/** Whether another one fits; what nobody names makes room. */
function createRoom({ root, mostBytes = 20_000 * MB, mostPrograms = 2_000 }: ShelfOptions, sweep: () => Promise<void>) {
  async function isFull(): Promise<boolean> {
    const all = await stock(root);
    return all.length >= mostPrograms || all.reduce((sum, { bytes }) => sum + bytes, 0) >= mostBytes;
  }
  return async function makeRoom(): Promise<void> {
    if (!(await isFull())) return;
    await sweep();
    if (await isFull()) throw new Error('there is no room for another program on this machine');
  };
}

/** Several who want the same get the same; whoever gives up leaves it to the others. Users take turns. */
function createOnce(installMs: number) {
  const queue = createFairQueue(AT_ONCE);
  const coming = new Map<string, Promise<unknown>>();
  async function inTime<T>(work: (until: AbortSignal) => Promise<T>): Promise<T> {
    const until = AbortSignal.timeout(installMs);
    try {
      return await untilAborted(work(until), until);
    } catch (error) {
      if (!until.aborted) throw error;
      throw new Error(`the program was not installed within ${installMs / 1000} s`, { cause: error });
    }
  }
  return function once<T>(
    key: string,
    { owner, signal }: { owner: string; signal?: AbortSignal | undefined },
    work: (until: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const made = coming.get(key) ?? queue.run(owner, () => inTime(work)).finally(() => coming.delete(key));
    coming.set(key, made);
    return untilAborted(made as Promise<T>, signal);
  };
}

/** Fills a folder beside its place, and puts it there. */
function createInstall(options: ShelfOptions, registry: Registry, makeRoom: () => Promise<void>) {
  const { root, pool } = options;
  return async function install(packages: readonly Pinned[], owner: string, until: AbortSignal, unlike: Unlike) {
    const known = await standing(root, packages);
    if (known) return known;
    await makeRoom();
    await mkdir(root, { recursive: true, mode: 0o755 });
    const part = path.join(root, `${randomHex(16)}${PART}`);
    await mkdir(part, { mode: 0o755 });
    try {
      const filled = await fill({ registry, pool, owner, unlike }, part, packages, until);
      const digest = digestOfPackages(filled.packages);
      const folder = path.join(root, digest);
      await writeFile(path.join(part, ABOUT), JSON.stringify({ bytes: filled.bytes }));
      if (!(await isThere(folder)))
        await rename(part, folder).catch(async (error: unknown) => {
          // Another process was faster: what is there has the same digest.
          if (!(await isThere(folder))) throw error;
        });
      return { ...filled, digest, folder };
    } finally {
      await removeTree(part);
    }
  };
}

export function createProgramShelf(options: ShelfOptions): ProgramShelf {
  const { root, pool, outbound, registry: url, installMs = INSTALL_MS } = options;
  const registry = createRegistry({ url, outbound, pool });
  const holding = createHolding(root);
  const once = createOnce(installMs);
  const sweep = createSweep(options);
  const install = createInstall(options, registry, createRoom(options, sweep));

  async function find(wanted: Wanted, owner: string, before: Pin | undefined, until: AbortSignal): Promise<Pin> {
    const { program, packages } = await resolveTree(registry.find(owner, until), wanted.name, wanted.range);
    const entry = entryOf(program, wanted.bin);
    const { digest, bytes, packages: taken } = await install(packages, owner, until, unlikePromised);
    const changed = before && changedUnder(before, taken);
    if (changed) throw otherContents(changed);
    const { name, version } = program;
    const integrity = taken[0]?.integrity ?? program.integrity;
    const at = new Date().toISOString();
    return { spec: wanted.spec, name, version, integrity, entry, packages: taken, digest, bytes, at };
  }

  return {
    sweep,
    resolve: (wanted, owner, { signal, before }) =>
      once(`${JSON.stringify(wanted)} ${before?.digest}`, { owner, signal }, (until) =>
        holding(wanted.spec, until, () => find(wanted, owner, before, until)),
      ),
    async folder(pin, owner, signal) {
      const folder = path.join(root, pin.digest);
      if (await isThere(folder)) return folder;
      return once(pin.digest, { owner, signal }, (until) =>
        holding(pin.digest, until, async () => (await install(pin.packages, owner, until, otherContents)).folder),
      );
    },
  };
}
