import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { createOutputTail } from './output-tail.ts';
import { createProcessLimit } from './process-limit.ts';
import { watchResources } from './resource-watch.ts';

/**
 * Runs programs for an agent where they can do no harm: bubblewrap with its own user, process, mount and network
 * namespaces. The program sees the system's programs read-only, the workspace, and an empty /tmp; no network, no
 * environment of ours, no privileges. Without bubblewrap nothing is run at all.
 */

export interface SandboxLimits {
  /** Of all processes together; each single one may have this much too. */
  memoryMb: number;
  processes: number;
  /** Of one file. */
  fileMb: number;
  tmpMb: number;
}

export const DEFAULT_LIMITS: SandboxLimits = { memoryMb: 1024, processes: 128, fileMb: 256, tmpMb: 256 };

export interface SandboxOptions {
  bwrap?: string;
  prlimit?: string;
  limits?: SandboxLimits;
}

interface Mounts {
  workspace: string;
  /** A Unix socket that leads to the egress proxy; left out: no way out at all. */
  egressSocket?: string;
}

interface SandboxCommand extends Mounts {
  argv: readonly string[];
  /** Inside the workspace, relative to it. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
  /** The workspace may not grow beyond this. */
  quotaBytes: number;
}

interface SandboxResult {
  output: string;
  /** Null: it was stopped, `stopped` says why. */
  code: number | null;
  stopped?: string;
}

export interface Sandbox {
  /** Why there is no sandbox here; undefined: there is one. */
  unavailable: () => Promise<string | undefined>;
  run: (command: SandboxCommand) => Promise<SandboxResult>;
  /** The program and arguments that run `argv` inside: for programs that are talked to, such as MCP servers. */
  wrap: (command: Mounts & { argv: readonly string[]; cwd?: string; env?: Readonly<Record<string, string>> }) => {
    command: string;
    args: string[];
    /** To be called when it has ended. */
    release: (pid: number | undefined) => void;
  };
}

const WORKSPACE = '/workspace';
const NODE = '/opt/agent/node';
const BRIDGE = '/opt/agent/egress-bridge.mts';
const BRIDGE_SOURCE = path.join(import.meta.dirname, 'egress-bridge.mts');
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

/** What programs need of /etc: certificates, names of zones and alternatives; no accounts, no hosts, no secrets. */
const ETC = ['ssl', 'pki', 'ca-certificates', 'alternatives', 'ld.so.cache', 'localtime', 'mime.types'];

export function createSandbox({
  bwrap = '/usr/bin/bwrap',
  prlimit = '/usr/bin/prlimit',
  limits = DEFAULT_LIMITS,
}: SandboxOptions = {}): Sandbox {
  let probed: Promise<string | undefined> | undefined;
  const processLimit = createProcessLimit(limits.processes);

  const wrap: Sandbox['wrap'] = ({ workspace, argv, cwd = '.', env = {}, egressSocket }) => {
    const given = {
      PATH: '/opt/agent:/usr/local/bin:/usr/bin:/bin',
      HOME: WORKSPACE,
      LANG: 'C.UTF-8',
      TMPDIR: '/tmp',
      ...env,
    };
    const inner = egressSocket === undefined ? argv : [NODE, BRIDGE, EGRESS_SOCKET, ...argv];
    const [command = bwrap, ...args] = processLimit.enter([
      bwrap,
      ...ISOLATION,
      ...systemMounts(),
      ...`--proc /proc --dev /dev --size ${limits.tmpMb * MB} --tmpfs /tmp`.split(' '),
      ...bind('--ro-bind', process.execPath, NODE),
      ...(egressSocket === undefined
        ? []
        : [...bind('--ro-bind', BRIDGE_SOURCE, BRIDGE), ...bind('--bind', egressSocket, EGRESS_SOCKET)]),
      ...bind('--bind', workspace, WORKSPACE),
      ...bind('--chdir', path.posix.join(WORKSPACE, path.posix.join('/', cwd)).replace(/\/$/, '')),
      ...Object.entries(given).flatMap(([name, value]) => bind('--setenv', name, value)),
      ...bind('--', prlimit, `--data=${(limits.memoryMb + RESERVED_MB) * MB}`, `--nproc=${limits.processes}`),
      ...bind(`--fsize=${limits.fileMb * MB}`, '--core=0', '--nofile=1024', '--', ...inner),
    ]);
    return { command, args, release: processLimit.leave };
  };

  async function probe(): Promise<string | undefined> {
    if (process.platform !== 'linux' || !existsSync(bwrap)) return 'bubblewrap is not installed';
    if (!existsSync(prlimit)) return 'prlimit (util-linux) is not installed';
    const { command, args, release } = wrap({ workspace: '/tmp', argv: ['/bin/sh', '-c', 'exit 0'] });
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    const said = createOutputTail(2000);
    child.stderr.on('data', said.add);
    const code = await ended(child);
    release(child.pid);
    return code === 0 ? undefined : `bubblewrap does not work here: ${said.text().trim() || `exit code ${code}`}`;
  }

  const unavailable = (): Promise<string | undefined> => (probed ??= probe());

  return {
    unavailable,
    wrap,
    async run({ timeoutMs, signal, quotaBytes, ...rest }) {
      const { command, args, release } = wrap(rest);
      signal.throwIfAborted();
      const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: {} });
      let stopped: string | undefined;
      // Killing bubblewrap ends its process namespace, and with it everything that was started inside.
      const stop = (why: string): void => {
        stopped ??= why;
        child.kill('SIGKILL');
      };
      const output = createOutputTail();
      const take = (chunk: Buffer): void => {
        output.add(chunk);
        if (output.total() > MAX_OUTPUT_BYTES) stop(`its output passed ${MAX_OUTPUT_BYTES / MB} MB`);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      const onAbort = (): void => stop('it was cancelled');
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => stop(`it took longer than ${timeoutMs / 1000} s`), timeoutMs);
      const unwatch = watchResources({
        pid: child.pid,
        memoryBytes: limits.memoryMb * MB,
        processes: limits.processes,
        workspace: rest.workspace,
        quotaBytes,
        onExceeded: stop,
      });
      try {
        const code = await ended(child);
        return { output: output.text(), code: stopped === undefined ? code : null, ...(stopped && { stopped }) };
      } finally {
        clearTimeout(timer);
        unwatch();
        release(child.pid);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

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
