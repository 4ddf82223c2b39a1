import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { dataDirOf, dumpDatabase, loadDatabase } from '@troupe/db';
import { secretList, sha256Hex, silentLog, StartError, VERSION, type Settings } from '@troupe/kernel';
import { checkEngine, restoringContainers, saveContainers, type Restoring, type Saved } from './containers.ts';
import { ownDatabase, reachDatabase } from './database.ts';

/**
 * A backup is one compressed archive: the rows, the data of agents in containers, what the data folder holds beside the
 * database, and a page about it.
 */

interface About {
  format: 1;
  version: string;
  madeAt: string;
  /** Which keys the sealed values need; not the keys. */
  walletKeys: string[];
}

const ABOUT = 'backup.json';
const ROWS = 'database';
const CONTAINERS = 'containers';
const OWN = new Set([ABOUT, ROWS, CONTAINERS]);
/** The embedded server’s own, whose rows are in the backup already, and copies of what is kept elsewhere. */
const NOT_KEPT = /^(copies|postgres|postgres\.new|postgres\.lock|run|\.backup-.*|\.restore-.*)$/;

/** Standard input or output is `-`. */
const STANDARD = '-';

async function walletKeys(settings: Settings, folder: string): Promise<string[]> {
  const file = path.join(folder, 'secrets.json');
  const kept = await readFile(file, 'utf8').catch(() => '{}');
  const key = settings.WALLET_ENCRYPTION_KEY ?? (JSON.parse(kept) as Partial<Settings>).WALLET_ENCRYPTION_KEY;
  return key === undefined ? [] : secretList(key).map((secret) => sha256Hex(`troupe backup ${secret}`).slice(0, 16));
}

const keptIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => !NOT_KEPT.test(name)).sort();

/** Writes the archive. While the platform runs, too: the rows are of one moment, the files of the moments after it. */
export async function backUp(settings: Settings, file: string): Promise<{ rows: number; containers?: Saved }> {
  await checkEngine(settings);
  const dataDir = dataDirOf(settings);
  const database = await reachDatabase(settings);
  await mkdir(dataDir, { recursive: true });
  const work = await mkdtemp(path.join(dataDir, '.backup-'));
  try {
    await mkdir(path.join(work, ROWS));
    const rows = await dumpDatabase(database.url, path.join(work, ROWS));
    const copied = { url: database.url, rows: path.join(work, ROWS), folder: path.join(work, CONTAINERS) };
    const containers = await saveContainers(settings, copied);
    const keys = await walletKeys(settings, dataDir);
    const about: About = { format: 1, version: VERSION, madeAt: new Date().toISOString(), walletKeys: keys };
    await writeFile(path.join(work, ABOUT), `${JSON.stringify(about, null, 2)}\n`);
    const made = (await readdir(work)).map((name) => `./${name}`);
    const entries = (await keptIn(dataDir)).map((name) => `./${name}`);
    const archive = ['-C', work, ...made, ...(entries.length > 0 ? ['-C', dataDir, ...entries] : [])];
    if (file === STANDARD) await pack(archive, process.stdout);
    else {
      // beside it first: a name that is there stands for a whole backup
      await pack(archive, createWriteStream(`${file}.part`, { mode: 0o600, flush: true }));
      await rename(`${file}.part`, file);
    }
    return { rows, ...(containers && { containers }) };
  } finally {
    await rm(work, { recursive: true, force: true });
    await database.stop();
  }
}

/** Puts an archive back where there is nothing yet. What is wrong with it or with the place is said before anything is changed. */
export async function restore(settings: Settings, file: string): Promise<{ about: About; rows: number }> {
  const dataDir = dataDirOf(settings);
  const found = await keptIn(dataDir);
  if (found.length > 0)
    throw new StartError(`${dataDir} has ${found.join(', ')} in it: restore into an empty DATA_DIR.`);
  // first, so that its folder is made with the rights that it needs
  const database = await ownDatabase(settings);
  await mkdir(dataDir, { recursive: true });
  const work = await mkdtemp(path.join(dataDir, '.restore-'));
  try {
    await unpack(file, work);
    const about = await readAbout(work);
    await checkKeys(settings, work, about);
    const containers = await restoringContainers(settings, path.join(work, CONTAINERS));
    const rows = await putBack({ work, dataDir, url: database.url, containers });
    await containers?.finish(database.url);
    return { about, rows };
  } finally {
    await rm(work, { recursive: true, force: true });
    await database.stop();
  }
}

interface Unpacked {
  work: string;
  dataDir: string;
  url: string;
  containers: Restoring | undefined;
}

/** Everything or nothing: the rows come last, and are one transaction. */
async function putBack({ work, dataDir, url, containers }: Unpacked): Promise<number> {
  const moved: string[] = [];
  try {
    for (const name of (await readdir(work)).filter((entry) => !OWN.has(entry))) {
      await rename(path.join(work, name), path.join(dataDir, name));
      moved.push(name);
    }
    await containers?.put();
    return await loadDatabase({ url, folder: path.join(work, ROWS), log: silentLog });
  } catch (error) {
    for (const name of moved) await rm(path.join(dataDir, name), { recursive: true, force: true });
    await containers?.undo();
    throw error;
  }
}

async function readAbout(work: string): Promise<About> {
  const text = await readFile(path.join(work, ABOUT), 'utf8').catch(() => undefined);
  const about = text === undefined ? undefined : (JSON.parse(text) as About);
  if (about?.format !== 1) throw new StartError('This is no backup that this version of Troupe can read.');
  return about;
}

/** Without its key, nobody could ever open a wallet again; better to hear it now. */
async function checkKeys(settings: Settings, work: string, { walletKeys: wanted }: About): Promise<void> {
  const given = await walletKeys(settings, work);
  if (wanted.every((key) => given.includes(key))) return;
  throw new StartError('The backup was made with another WALLET_ENCRYPTION_KEY: set that one and restore again.');
}

/** GNU tar ends with 1 when a file changed while it was read, which is no failure here. */
const CHANGED_MEANWHILE = 1;

async function pack(args: string[], to: Writable): Promise<void> {
  await tar(['-cz', ...args], [0, CHANGED_MEANWHILE], ({ stdin, stdout }) => {
    stdin.end();
    return pipeline(stdout, to, { end: to !== process.stdout });
  });
}

async function unpack(file: string, folder: string): Promise<void> {
  if (file !== STANDARD && !existsSync(file)) throw new StartError(`There is no ${file}.`);
  const from = file === STANDARD ? process.stdin : createReadStream(file);
  // a tar that gives up early says why itself
  await tar(['-xz', '-C', folder], [0], ({ stdin }) => pipeline(from, stdin).catch(() => {}));
}

async function tar(
  args: string[],
  good: number[],
  work: (child: ChildProcessWithoutNullStreams) => Promise<void>,
): Promise<void> {
  const child = spawn('tar', args);
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [code] = await Promise.all([ended, work(child)]);
  if (!good.includes(code ?? -1)) throw new StartError(`tar failed: ${said.trim().split('\n').at(0)}`);
}
