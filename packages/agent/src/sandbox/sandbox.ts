import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SKILLS_FOLDER } from '@troupe/domain';
import { createFairQueue, type Log } from '@troupe/kernel';
import { createControlGroups } from './control-group.ts';
import { readCalmly } from './calmly.ts';
import { createOutputTail, type OutputTail } from './output-tail.ts';
import { tooMuchMemory, watchResources, type Watched } from './resource-watch.ts';
import { createSandboxUser } from './sandbox-user.ts';
import type { Quarters, Room } from './quarters.ts';
import { createSeats, type Seats } from './seats.ts';

/**
 * Runs programs for an agent where they can do no harm: bubblewrap with its own user, process, mount and network
 * namespaces. The program sees the system's programs read-only, the workspace, and an empty /tmp; no network, no
 * environment of ours, no privileges. The kernel bounds what it uses where a control group can be made, and outside it
 * is somebody without rights. Without bubblewrap nothing is run at all.
 */

export interface SandboxLimits {
  /** Of all processes together; each single one may have this much too. */
  memoryMb: number;
  processes: number;
  /** Of one file. */
  fileMb: number;
  /** Of /tmp and /dev/shm; what is in them counts as memory. */
  tmpMb: number;
  shmMb: number;
}

export const DEFAULT_LIMITS: SandboxLimits = { memoryMb: 1024, processes: 128, fileMb: 256, tmpMb: 256, shmMb: 64 };

export interface SandboxOptions {
  bwrap?: string;
  prlimit?: string;
  limits?: SandboxLimits;
  /** Told once what the kernel does not bound here. */
  log?: Pick<Log, 'warn'>;
  /** Where control groups are. */
  groups?: string;
}

interface Mounts {
  workspace: string;
  /** A Unix socket that leads to the egress proxy; left out: no way out at all. */
  egressSocket?: string;
  /** Folders that are shown, and cannot be changed. */
  skills?: readonly { name: string; folder: string }[];
  /** The same for an installed program. */
  program?: string;
}

interface SandboxCommand extends Omit<Mounts, 'workspace'> {
  workspace: Quarters;
  argv: readonly string[];
  /** Inside the workspace, relative to it. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
}

interface SandboxResult {
  output: string;
  /** Null: it was stopped, `stopped` says why. */
  code: number | null;
  stopped?: string;
  /** It has filled the workspace: why nothing more may be written now. */
  full?: string;
}

/** A command that goes on while others do. */
interface Started {
  output: OutputTail;
  /** Settles when it has ended, however that came. */
  done: Promise<SandboxResult>;
  stop: (why: string) => void;
}

export interface Sandbox {
  /** Why there is no sandbox here; undefined: there is one. */
  unavailable: () => Promise<string | undefined>;
  run: (command: SandboxCommand) => Promise<SandboxResult>;
  /** The same without waiting for it, and out of the line: who calls it bounds how many there are. */
  start: (command: SandboxCommand) => Promise<Started>;
  /** How many programs of a kind go on at once, of all and of one owner. */
  seats: Readonly<Record<'browser' | 'job' | 'program', Seats>>;
  /** The program and arguments that run `argv` inside: for programs that are talked to, such as MCP servers. */
  wrap: (command: Inside) => Promise<Wrapped>;
}

interface Inside extends Mounts {
  argv: readonly string[];
  cwd?: string;
  /** Of one file, where it is less than what every file may have. */
  fileBytes?: number;
  env?: Readonly<Record<string, string>>;
  /** Other bounds than those of every command. */
  limits?: SandboxLimits;
  /** How many descriptors after the first three are handed on. */
  pipes?: number;
  /** What it complains about goes where it speaks: as two, nobody could tell which was first. */
  oneStream?: boolean;
}

interface Wrapped {
  command: string;
  args: string[];
  /** To be called when it has ended. */
  release: (pid: number | undefined) => void;
  watched: Watched;
}

const WORKSPACE = '/workspace';
export const NODE = '/opt/agent/node';
/** Where a program that was installed is seen. */
export const PROGRAM = '/opt/program';
const BRIDGE = '/opt/agent/egress-bridge.mts';
const BRIDGE_SOURCE = path.join(import.meta.dirname, 'egress-bridge.mts');
/** It only passes bytes on: it needs no room to grow, and no compiler. */
const BRIDGE_FLAGS = ['--max-old-space-size=16', '--max-semi-space-size=1', '--single-threaded-gc'];
const EGRESS_SOCKET = '/run/egress.sock';
const MB = 1024 * 1024;
/** Runtimes such as Node reserve this much without using it; what is really used is watched. */
const RESERVED_MB = 512;

/** Own namespaces for everything, no privileges, no way to make further namespaces; ends with us. */
const ISOLATION =
  '--unshare-all --unshare-user --disable-userns --uid 1000 --gid 1000 --cap-drop ALL --die-with-parent --new-session --clearenv --hostname sandbox'.split(
    ' ',
  );

const bind = (...args: string[]): string[] => args;

/** What programs need of /etc: certificates, names of zones, fonts and alternatives; no accounts, no hosts, no keys. */
const ETC =
  'ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust/extracted ca-certificates alternatives fonts ld.so.cache localtime mime.types'.split(
    ' ',
  );

/** The programs that make a sandbox, and its bounds. */
type Tools = Required<Pick<SandboxOptions, 'bwrap' | 'prlimit' | 'limits'>>;

interface Ways {
  wrap: Sandbox['wrap'];
  groups: ReturnType<typeof createControlGroups>;
}

/** The program inside, as bubblewrap starts it; `at` says where the user outside finds our paths. */
function inside(
  { bwrap, prlimit, limits }: Tools,
  { workspace, argv, cwd = '.', env = {}, egressSocket, skills = [], program, fileBytes, pipes = 0 }: Inside,
  at: (given: string) => string,
) {
  const given = {
    PATH: '/opt/agent:/usr/local/bin:/usr/bin:/bin',
    HOME: WORKSPACE,
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    ...env,
  };
  const inner =
    egressSocket === undefined ? argv : [NODE, ...BRIDGE_FLAGS, BRIDGE, EGRESS_SOCKET, String(pipes), ...argv];
  return [
    bwrap,
    ...ISOLATION,
    ...systemMounts(),
    ...`--proc /proc --dev /dev --size ${limits.tmpMb * MB} --tmpfs /tmp`.split(' '),
    ...`--perms 1777 --size ${limits.shmMb * MB} --tmpfs /dev/shm`.split(' '),
    ...bind('--ro-bind', at(process.execPath), NODE),
    ...(egressSocket === undefined
      ? []
      : [...bind('--ro-bind', at(BRIDGE_SOURCE), BRIDGE), ...bind('--bind', at(egressSocket), EGRESS_SOCKET)]),
    ...bind('--bind', at(workspace), WORKSPACE),
    ...skills.flatMap(({ name, folder }) => bind('--ro-bind', at(folder), path.posix.join(SKILLS_FOLDER, name))),
    ...(program === undefined ? [] : bind('--ro-bind', at(program), PROGRAM)),
    // Both are file systems in memory, of no size: nothing may be written there.
    ...'--remount-ro /dev --remount-ro /'.split(' '),
    ...bind('--chdir', path.posix.join(WORKSPACE, path.posix.join('/', cwd)).replace(/\/$/, '')),
    ...Object.entries(given).flatMap(([name, value]) => bind('--setenv', name, value)),
    ...bind('--', prlimit, `--data=${(limits.memoryMb + RESERVED_MB) * MB}`, `--nproc=${limits.processes}`),
    ...bind(
      `--fsize=${Math.min(limits.fileMb * MB, fileBytes ?? Infinity)}`,
      '--core=0',
      '--nofile=1024',
      '--',
      ...inner,
    ),
  ];
}

/** Runs something harmless inside; answers why that cannot be. */
async function probe(
  { bwrap, prlimit }: Tools,
  { wrap, groups }: Ways,
  log: SandboxOptions['log'],
): Promise<string | undefined> {
  if (process.platform !== 'linux' || !existsSync(bwrap)) return 'bubblewrap is not installed';
  if (!existsSync(prlimit)) return 'prlimit (util-linux) is not installed';
  const workspace = await mkdtemp(path.join(tmpdir(), 'troupe-probe-'));
  try {
    const { command, args, release } = await wrap({ workspace, argv: ['/bin/sh', '-c', 'exit 0'] });
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    const said = createOutputTail(2000);
    child.stderr.on('data', said.add);
    const code = await ended(child);
    release(child.pid);
    if (code !== 0) return `bubblewrap does not work here: ${said.text().trim() || `exit code ${code}`}`;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
  if (groups.bounds.length < 3)
    log?.warn(
      { bounds: groups.bounds },
      'the kernel does not bound all that commands use: no control group can be made',
    );
  return undefined;
}

async function startNow(
  { wrap, groups }: Ways,
  { timeoutMs, signal, workspace, ...rest }: SandboxCommand,
): Promise<Started> {
  const output = createOutputTail();
  const before = await workspace.room();
  if (before.shut) {
    const stopped = `${before.full}; remove something with the file tools`;
    return { output, stop: () => {}, done: Promise.resolve({ output: '', code: null, stopped }) };
  }
  // In a full workspace files may be removed, and none may be written: not a byte, and no more files than there were.
  const fileBytes = before.full === undefined ? before.freeBytes : 0;
  const { command, args, release, watched } = await wrap({
    ...rest,
    workspace: workspace.root,
    fileBytes,
    oneStream: true,
  });
  signal.throwIfAborted();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: {} });
  let stopped: string | undefined;
  // Killing bubblewrap ends its process namespace, and with it everything that was started inside.
  const stop = (why: string): void => {
    stopped ??= why;
    child.kill('SIGKILL');
    groups.end(child.pid);
  };
  child.once('exit', () => groups.end(child.pid));
  const take = (chunk: Buffer): void => {
    output.add(chunk);
    if (output.total() > MAX_OUTPUT_BYTES) stop(`its output passed ${MAX_OUTPUT_BYTES / MB} MB`);
  };
  readCalmly(child.stdout, take);
  // Of what stands around it: why it did not begin.
  readCalmly(child.stderr, take);
  const onAbort = (): void => stop('it was cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop(`it took longer than ${timeoutMs / 1000} s`), timeoutMs);
  const full = async (): Promise<string | undefined> => overfull(before, await workspace.room());
  const unwatch = watchResources({ ...watched, pid: child.pid, full, onExceeded: stop });

  async function finish(): Promise<SandboxResult> {
    try {
      const code = await ended(child);
      if (watched.isShort?.(child.pid)) stopped ??= tooMuchMemory(watched.memoryBytes);
      if (stopped !== undefined) return { output: output.text(), code: null, stopped };
      // A short command is over before the watcher looks.
      const why = await full();
      return { output: output.text(), code, ...(why !== undefined && { full: why }) };
    } finally {
      clearTimeout(timer);
      unwatch();
      release(child.pid);
      signal.removeEventListener('abort', onAbort);
    }
  }
  return { output, done: finish(), stop };
}

export function createSandbox({
  bwrap = '/usr/bin/bwrap',
  prlimit = '/usr/bin/prlimit',
  limits = DEFAULT_LIMITS,
  log,
  groups: groupsRoot,
}: SandboxOptions = {}): Sandbox {
  let probed: Promise<string | undefined> | undefined;
  const queue = createFairQueue(AT_ONCE);
  const groups = createControlGroups(watchedOf(limits), groupsRoot);
  const user = createSandboxUser();
  const tools: Tools = { bwrap, prlimit, limits };

  async function wrap(wanted: Inside): Promise<Wrapped> {
    const { workspace, egressSocket, limits: own = limits } = wanted;
    await user.claim(workspace);
    if (egressSocket !== undefined) user.admit(egressSocket);
    const { script, argv, at, unshare } = user.become(oursIn(wanted));
    const begin = wanted.oneStream === true ? 'exec "$@" 2>&1' : 'exec "$@"';
    const [command = '', ...args] = [
      ...(unshare ? ['/usr/bin/unshare', '--mount', '--'] : []),
      ...bind(
        '/bin/sh',
        '-c',
        ['set -e', 'umask 077', groups.enter(watchedOf(own)), script, begin].join('\n'),
        'sandbox',
      ),
      ...argv,
      ...inside({ ...tools, limits: own }, wanted, at),
    ];
    const isShort = groups.bounds.includes('memory') ? groups.isShort : undefined;
    return { command, args, release: groups.leave, watched: { ...watchedOf(own), ...(isShort && { isShort }) } };
  }

  const unavailable = (): Promise<string | undefined> => (probed ??= probe(tools, { wrap, groups }, log));

  return {
    unavailable,
    wrap,
    run: (command) =>
      queue.run(command.workspace.owner, async () => (await startNow({ wrap, groups }, command)).done, command.signal),
    start: (command) => startNow({ wrap, groups }, command),
    seats: { browser: createSeats(BROWSERS), job: createSeats(JOBS), program: createSeats(PROGRAMS) },
  };
}

const watchedOf = ({ memoryMb, processes }: SandboxLimits) => ({ memoryBytes: memoryMb * MB, processes });

/** What is shown inside of what is ours outside. */
const oursIn = ({ workspace, egressSocket, skills = [], program }: Mounts): string[] => [
  workspace,
  process.execPath,
  ...(egressSocket === undefined ? [] : [BRIDGE_SOURCE, egressSocket]),
  ...skills.map(({ folder }) => folder),
  ...(program === undefined ? [] : [program]),
];

function overfull(before: Room, now: Room): string | undefined {
  const grew = now.bytes > before.bytes || now.entries > before.entries || now.shut;
  return before.full === undefined || grew ? now.full : undefined;
}

/** Commands of all agents, and of one owner's: the bounds of a workspace are those of one command. */
const AT_ONCE = { width: 32, perKey: 3, waiting: 1_000, waitingPerKey: 50 };
/** Those that go on between calls. */
const BROWSERS = { all: 8, perOwner: 2 };
const JOBS = { all: 32, perOwner: 6 };
/** Of MCP servers: an agent that is awake keeps them. */
const PROGRAMS = { all: 64, perOwner: 16 };
const MAX_OUTPUT_BYTES = 64 * MB;

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
}

/** /usr read-only; the old top-level folders as links into it, or as they are where they are real. */
function systemMounts(): string[] {
  const folders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].filter((folder) => existsSync(folder));
  return [
    ...bind('--ro-bind', '/usr', '/usr'),
    ...folders.flatMap((folder) =>
      lstatSync(folder).isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder],
    ),
    ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ];
}
