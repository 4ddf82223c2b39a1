import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { npm } from './npm.mjs';
import { ROOT, run } from './run.mjs';
import { Stop, step } from './step.mjs';

/** Plain JavaScript that Node 18 understands: this is what runs before there is anything else. */

const NODE_MAJOR = 24;

/** @param {string} version */
const major = (version) => Number(/^v?(\d+)/.exec(version)?.[1]);

export const runsHere = () => major(process.version) >= NODE_MAJOR;

/** @param {string} file */
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/**
 * The Node that the product runs on: this one when it is new enough, else one of our own in `.runtime`.
 * @returns {Promise<string>}
 */
async function node() {
  if (runsHere()) return process.execPath;
  const windows = process.platform === 'win32';
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`;
  const binary = path.join(ROOT, '.runtime/node_modules', name, windows ? 'bin/node.exe' : 'bin/node');
  const works = async () => (await run(binary, ['--version'], { quiet: true }).catch(() => undefined))?.code === 0;
  if (existsSync(binary) && (await works())) return binary;
  await step(`Fetching Node ${NODE_MAJOR} (this machine has ${process.version})`, () =>
    npm(process.execPath, ['install', '--prefix', path.join(ROOT, '.runtime'), '--no-save', `${name}@${NODE_MAJOR}`]),
  );
  if (!(await works())) {
    throw new Stop(
      `Node ${NODE_MAJOR} is needed and could not be fetched for this machine: install it and start again.`,
    );
  }
  return binary;
}

/**
 * Installs from the lock file, unless what is there came from the same lock file, Node and machine.
 * @param {string} binary
 * @param {boolean} dev also what checks and tests need
 */
async function install(binary, dev) {
  const stampFile = path.join(ROOT, 'node_modules/.troupe-stamp');
  const lock = createHash('sha256')
    .update(readFileSync(path.join(ROOT, 'package-lock.json')))
    .digest('hex');
  const version = runsHere() ? process.version : String(NODE_MAJOR);
  /** @param {string} kind */
  const stamp = (kind) => [lock, major(version), process.platform, process.arch, kind].join(' ');
  const present = read(stampFile);
  if (present === stamp('all') || (!dev && present === stamp('production'))) return;
  await step('Installing packages', () => npm(binary, ['ci', dev ? '--include=dev' : '--omit=dev']));
  writeFileSync(stampFile, stamp(dev ? 'all' : 'production'));
}

/**
 * npm looks for a script's `node` in node_modules/.bin first: with ours there, the start script runs on it directly and
 * no process of the old one stays behind it.
 * @param {string} binary
 */
function putOnPath(binary) {
  const link = path.join(ROOT, 'node_modules/.bin/node');
  if (!runsHere() && process.platform !== 'win32' && !existsSync(link)) symlinkSync(binary, link);
}

/**
 * @param {string} file
 * @returns {string[]}
 */
function filesBelow(file) {
  const absolute = path.join(ROOT, file);
  if (!existsSync(absolute)) return [];
  try {
    return readdirSync(absolute, { withFileTypes: true })
      .filter(({ name }) => !['node_modules', 'dist'].includes(name) && !name.includes('.test.'))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => (entry.isDirectory() ? filesBelow(`${file}/${entry.name}`) : [`${file}/${entry.name}`]));
  } catch {
    return [file];
  }
}

/**
 * What of each file tells whether it was touched: its place on the disk, its length and both of its times, of which nobody can set
 * the second one back.
 * @param {readonly string[]} files
 */
function looksOf(files) {
  const hash = createHash('sha256').update(ROOT);
  for (const file of files) {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path.join(ROOT, file));
    hash.update(`${file}\0${ino} ${size} ${mtimeMs} ${ctimeMs}\0`);
  }
  return hash.digest('hex');
}

/** @param {readonly string[]} files */
function contentsOf(files) {
  const hash = createHash('sha256').update(ROOT);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}

/**
 * Builds something, unless what is there was built from the same sources in the same place. They are read only when one of them
 * was touched.
 * @param {{ title: string, what: string, sources: readonly string[], stampFile: string, command: readonly string[], cwd?: string }} build
 * @param {string} binary
 */
async function build({ title, what, sources, stampFile, command, cwd = ROOT }, binary) {
  const files = sources.flatMap(filesBelow);
  const looks = looksOf(files);
  const [built, seen] = (read(stampFile) ?? '').split('\n');
  if (seen === looks) return;
  const contents = contentsOf(files);
  if (built !== contents)
    await step(title, async () => {
      const { code, output, interrupted } = await run(binary, command, { quiet: true, cwd });
      if (interrupted) process.exit(1);
      if (/ENOSPC/.test(output)) throw new Stop('The disk is full: free some space and start again.');
      if (code !== 0) throw new Stop(`${what} could not be built:\n\n${output.trim()}`);
    });
  try {
    writeFileSync(stampFile, `${contents}\n${looks}`);
  } catch (error) {
    // what was built by another user is there all the same, and read again the next time
    if (built !== contents) throw error;
  }
}

/** @param {string} binary */
async function dashboard(binary) {
  // an image has its files and not what they are built from
  if (!existsSync(path.join(ROOT, 'apps/dashboard/index.html'))) return;
  const sources = ['apps/dashboard', 'packages/client/src', 'packages/contract', 'packages/domain/src'];
  await build(
    {
      title: 'Building the dashboard',
      what: 'The dashboard',
      sources: [...sources, 'package-lock.json'],
      stampFile: path.join(ROOT, 'apps/dashboard/dist/.stamp'),
      command: [path.join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'],
      cwd: path.join(ROOT, 'apps/dashboard'),
    },
    binary,
  );
}

const BUNDLE = 'apps/platform/scripts';

/**
 * The services as few files, which scripts/start.mjs runs.
 * @param {string} binary
 */
async function program(binary) {
  const services = ['agent', 'backend', 'platform', 'summarizer', 'web'].map((name) => `apps/${name}/src`);
  const packages = readdirSync(path.join(ROOT, 'packages'))
    .filter((name) => name !== 'testing')
    .map((name) => `packages/${name}/src`);
  await build(
    {
      title: 'Putting the program together',
      what: 'The program',
      sources: [...services, ...packages, BUNDLE, 'package-lock.json'],
      stampFile: path.join(ROOT, '.runtime/program/.stamp'),
      command: [path.join(ROOT, BUNDLE, 'bundle.ts')],
    },
    binary,
  );
}

/**
 * Everything that has to be there before the product can run. What is there already is left alone.
 * @param {{ dev: boolean }} options
 * @returns {Promise<string>} the Node to run it with
 */
export async function prepare({ dev }) {
  try {
    const binary = await node();
    await install(binary, dev);
    putOnPath(binary);
    await dashboard(binary);
    await program(binary);
    return binary;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC') {
      throw new Stop('The disk is full: free some space and start again.');
    }
    throw error;
  }
}
