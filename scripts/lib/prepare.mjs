import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** What the dashboard is built from. */
const DASHBOARD_SOURCES = [
  'apps/dashboard',
  'packages/client/src',
  'packages/contract/src',
  'packages/domain/src',
  'package-lock.json',
];

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
 * Builds the dashboard, unless what is there was built from the same sources.
 * @param {string} binary
 */
async function dashboard(binary) {
  if (!existsSync(path.join(ROOT, 'apps/dashboard/index.html'))) return;
  const hash = createHash('sha256');
  for (const file of DASHBOARD_SOURCES.flatMap(filesBelow)) {
    hash.update(`${file}\0`).update(readFileSync(path.join(ROOT, file)));
  }
  const stampFile = path.join(ROOT, 'apps/dashboard/dist/.stamp');
  const stamp = hash.digest('hex');
  if (read(stampFile) === stamp) return;
  await step('Building the dashboard', async () => {
    const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js');
    const cwd = path.join(ROOT, 'apps/dashboard');
    const { code, output, interrupted } = await run(binary, [vite, 'build', '--logLevel', 'warn'], {
      quiet: true,
      cwd,
    });
    if (interrupted) process.exit(1);
    if (/ENOSPC/.test(output)) throw new Stop('The disk is full: free some space and start again.');
    if (code !== 0) throw new Stop(`The dashboard could not be built:\n\n${output.trim()}`);
  });
  writeFileSync(stampFile, stamp);
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
    return binary;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC') {
      throw new Stop('The disk is full: free some space and start again.');
    }
    throw error;
  }
}
