import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ownSettings, processTree } from '@troupe/testing/processes/program';
import { endWithUs, runChild } from './lib/child.ts';
import { finish, printTable, type Row } from './lib/report.ts';

/** `npm start` in a fresh clone, then again: how long until it is ready, what the whole tree takes when idle, and how long a killed platform is away. */

const ROOT = path.resolve(import.meta.dirname, '..');
const READY = 'Ctrl-C stops everything.';
const IDLE_MS = 5000;

const home = mkdtempSync(path.join(tmpdir(), 'troupe-bench-'));
const clone = path.join(home, 'troupe');
const { env, remove } = await ownSettings();

interface Figures {
  seconds: number;
  rss: number;
  pss: number;
  /** From `kill -9` of the platform until it answers again. */
  away: number;
  processes: Row[];
}

async function start(): Promise<Figures> {
  const began = performance.now();
  const child = endWithUs(
    spawn('npm', ['start'], {
      cwd: clone,
      env: { PATH: systemPath(), HOME: process.env['HOME'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
    'SIGTERM',
  );
  try {
    let output = '';
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.includes(READY)) break;
    }
    if (!output.includes(READY)) throw new Error(`npm start ended:\n${output}`);
    const seconds = (performance.now() - began) / 1000;
    await delay(IDLE_MS);
    const processes = processTree(child.pid ?? 0).map(memoryOf);
    const sum = (column: string) => processes.reduce((total, row) => total + Number(row[column]), 0);
    const away = await killPlatform(child.pid ?? 0);
    return { seconds, rss: sum('RSS MB'), pss: sum('PSS MB'), away, processes };
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}

async function killPlatform(npm: number): Promise<number> {
  const platform = processTree(npm).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('start.mjs'));
  if (platform === undefined) throw new Error('there is no platform below npm');
  const began = performance.now();
  process.kill(platform, 'SIGKILL');
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${env['WEB_PORT']}/api/health`).catch(() => undefined);
    if (answer?.status === 200) return (performance.now() - began) / 1000;
    await delay(10);
  }
}

/** Without what npm put in front for the bench itself: a newcomer's path. */
const systemPath = (): string =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((entry) => !entry.includes('node_modules') && !entry.includes('node-gyp-bin'))
    .join(path.delimiter);

/** What belongs to whom: npm, the platform's Node, PostgreSQL, and the two shells that watch. */
function partOf(pid: number, command: string): 'npm' | 'platform' | 'postgres' | 'shells' {
  const program = path.basename(readlinkSync(`/proc/${pid}/exe`));
  if (program === 'postgres') return 'postgres';
  if (program !== 'node') return 'shells';
  return command.includes('start.mjs') ? 'platform' : 'npm';
}

function memoryOf(pid: number): Row {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  const part = partOf(pid, command);
  return { process: path.basename(command.slice(0, 80)), part, 'RSS MB': megabytes('Rss'), 'PSS MB': megabytes('Pss') };
}

/** The platform's Node with nothing in it: what no change of ours takes away. */
async function bareNode(): Promise<number> {
  const child = endWithUs(
    spawn(path.join(clone, 'node_modules/.bin/node'), ['-e', "setInterval(() => {}, 1000); console.log('up')"]),
    'SIGTERM',
  );
  await once(child.stdout, 'data');
  await delay(IDLE_MS);
  const { 'PSS MB': pss } = memoryOf(child.pid ?? 0);
  child.kill('SIGTERM');
  await once(child, 'exit');
  return Number(pss);
}

/** The largest of what the platform loads when it starts, each after those that it needs. */
const MODULES: readonly (readonly string[])[] = [
  ['zod'],
  ['@troupe/contract', 'zod'],
  ['fastify'],
  ['kysely'],
  ['pg'],
  ['pg-boss', 'pg'],
  ['pino'],
  ['ws'],
];

/** Megabytes of heap and milliseconds of each; as they come from the package, not from the bundle, which loads in half of that. */
async function modules(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const names of MODULES) {
    const [mb, ms] = await runChild<[number, number]>(new URL('start/module.ts', import.meta.url), names);
    rows.push({ module: names[0]!, 'heap MB': mb, ms });
  }
  return rows;
}

try {
  const made = spawnSync('git', ['clone', '--quiet', ROOT, clone], { stdio: 'inherit' });
  if (made.status !== 0 || !existsSync(clone)) throw new Error('this bench needs git and a clone');
  const first = await start();
  const second = await start();
  printTable('Processes of the second start, idle', second.processes);
  printTable('npm start', [
    { start: 'first, fresh clone', 'ready s': first.seconds, 'RSS MB': first.rss, 'PSS MB': first.pss },
    { start: 'second', 'ready s': second.seconds, 'RSS MB': second.rss, 'PSS MB': second.pss },
  ]);
  console.log('\nPSS counts a page that processes share once; RSS counts it for each of them.');
  const parts = { npm: 0, platform: 0, postgres: 0, shells: 0 };
  for (const row of second.processes) parts[row['part'] as keyof typeof parts] += Number(row['PSS MB']);
  const bare = await bareNode();
  printTable(
    'What is whose',
    [...Object.entries(parts), ['a bare Node', bare]].map(([part, mb]) => ({
      part: String(part),
      'PSS MB': Number(mb),
    })),
  );
  const loaded = await modules();
  printTable('What modules take', loaded);
  finish(
    'start',
    [
      { figure: 'second_start_s', value: second.seconds, atMost: 1.2 },
      { figure: 'idle_pss_mb', value: second.pss, atMost: 150 },
      { figure: 'away_after_kill_s', value: second.away, atMost: 2 },
    ],
    {
      first_start_s: first.seconds,
      idle_rss_mb: second.rss,
      first_idle_pss_mb: first.pss,
      ...Object.fromEntries(Object.entries(parts).map(([part, mb]) => [`${part}_mb`, mb])),
      bare_node_mb: bare,
      ...Object.fromEntries(loaded.map(({ module, 'heap MB': mb }) => [`${String(module)} heap_mb`, Number(mb)])),
    },
  );
} finally {
  rmSync(home, { recursive: true, force: true });
  await remove();
}
