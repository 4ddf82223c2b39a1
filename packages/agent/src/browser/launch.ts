import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createEgressProxy, type EgressOptions } from '../sandbox/egress-proxy.ts';
import { readCalmly } from '../sandbox/calmly.ts';
import { createOutputTail } from '../sandbox/output-tail.ts';
import { watchResources } from '../sandbox/resource-watch.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import { sandboxOwner } from '../sandbox/sandbox-user.ts';
import { createCdp, type Cdp, type CdpEvent } from './cdp.ts';

/**
 * Starts Chromium inside of the sandbox. It sees an empty folder for what it downloads, no workspace, and no network but
 * the egress proxy: what a page could reach through it, the agent may reach anyway.
 */

/** A sandbox shows programs below /usr. Distributions' own wrappers read settings that are not shown. */
const PROGRAMS = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium-browser/chromium-browser',
  '/usr/lib64/chromium-browser/headless_shell',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
];

export const findChromium = (programs: readonly string[] = PROGRAMS): string | undefined =>
  programs.find((program) => existsSync(program));

/** Its processes and threads are many; what it draws lies in shared memory. */
const LIMITS: SandboxLimits = { memoryMb: 768, processes: 400, fileMb: 256, tmpMb: 128, shmMb: 256 };

/** `<-loopback>`: also names of the machine itself are asked for at the proxy, which refuses them. */
const FLAGS = [
  ...'--headless --remote-debugging-pipe --no-sandbox --no-zygote --in-process-gpu --disable-gpu'.split(' '),
  ...'--user-data-dir=/tmp/profile --disk-cache-size=16777216 --window-size=1280,800 --hide-scrollbars'.split(' '),
  ...'--no-first-run --no-default-browser-check --disable-extensions --disable-sync --disable-breakpad'.split(' '),
  ...'--disable-background-networking --disable-component-update --disable-default-apps --mute-audio'.split(' '),
  ...'--disable-crash-reporter --disable-domain-reliability --password-store=basic --metrics-recording-only'.split(' '),
  ...'--force-webrtc-ip-handling-policy=disable_non_proxied_udp --proxy-bypass-list=<-loopback>'.split(' '),
  ...'--disable-site-isolation-trials --disable-quic --disable-file-system --lang=en-US'.split(' '),
  '--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,AutofillServerCommunication',
  '--enable-features=NetworkServiceInProcess2',
  'about:blank',
];

export interface LaunchOptions {
  sandbox: Sandbox;
  program: string;
  egress?: Omit<EgressOptions, 'allowedDomains'> | undefined;
  allowedDomains: readonly string[];
  /** How long an answer is waited for. */
  answerMs?: number;
  onEvent: (event: CdpEvent) => void;
}

export interface Launched {
  cdp: Cdp;
  pid: number | undefined;
  /** Where it puts what it downloads. */
  folder: string;
  stop: (why: string) => void;
  /** Why it has ended, or is about to; undefined: it goes on. */
  over: () => string | undefined;
  /** Settles when it has, and nothing is left of it. */
  ended: Promise<string>;
}

const PREFIX = 'troupe-browser-';
const LEFT = /^troupe-browser-(\d+)-/;
const MB = 1024 * 1024;
/** Of all that it has downloaded and nobody has taken. */
const MOST_FOLDER_BYTES = 300 * MB;
const SAID_CHARACTERS = 300;

/** Named after the process: what a platform that was killed has left is removed by the next. */
async function makeFolder(): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    const pid = LEFT.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      await rm(path.join(tmpdir(), name), { recursive: true, force: true });
  }
  const folder = await mkdtemp(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
  const uid = sandboxOwner();
  if (uid !== undefined) await chown(folder, uid, uid);
  return folder;
}

async function tooMuchIn(folder: string): Promise<string | undefined> {
  let bytes = 0;
  // A file may have gone since.
  for (const name of await readdir(folder))
    bytes += await stat(path.join(folder, name)).then(
      ({ blocks }) => blocks * 512,
      () => 0,
    );
  return bytes > MOST_FOLDER_BYTES ? `it downloaded more than ${MOST_FOLDER_BYTES / MB} MB` : undefined;
}

export async function launch({
  sandbox,
  program,
  egress = {},
  allowedDomains,
  answerMs,
  onEvent,
}: LaunchOptions): Promise<Launched> {
  const proxy = await createEgressProxy({ ...egress, allowedDomains, anyDomain: allowedDomains.length === 0 });
  const folder = await makeFolder();
  const clean = async (): Promise<void> => {
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const wrapped = await sandbox.wrap({
      workspace: folder,
      argv: ['/bin/sh', '-c', 'exec "$0" --proxy-server="$HTTP_PROXY" "$@"', program, ...FLAGS],
      env: { HOME: '/tmp' },
      egressSocket: proxy.socketPath,
      limits: LIMITS,
      pipes: 2,
    });
    return start(wrapped, { folder, clean, onEvent, answerMs });
  } catch (error) {
    await clean();
    throw error;
  }
}

function start(
  { command, args, release, watched }: Awaited<ReturnType<Sandbox['wrap']>>,
  given: { folder: string; clean: () => Promise<void> } & Pick<LaunchOptions, 'onEvent' | 'answerMs'>,
): Launched {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env: {} });
  const said = createOutputTail(4096);
  if (child.stderr) readCalmly(child.stderr, said.add);
  let why: string | undefined;
  // Killing bubblewrap ends its process namespace, and with it all that the browser is made of.
  const stop = (reason: string): void => {
    why ??= reason;
    cdp.end(`the browser was ended: ${why}`);
    child.kill('SIGKILL');
  };
  const [, , , input, output] = child.stdio;
  const cdp = createCdp(
    { input: input as Writable, output: output as Readable },
    { ...given, onFlood: () => stop('a page kept it busier than anybody can follow') },
  );
  const unwatch = watchResources({
    ...watched,
    pid: child.pid,
    full: () => tooMuchIn(given.folder),
    onExceeded: stop,
  });
  const ended = new Promise<string>((resolve) => {
    const finish = (code: number | null): void => {
      unwatch();
      if (watched.isShort?.(child.pid)) why ??= `it used more than ${watched.memoryBytes / MB} MB of memory`;
      release(child.pid);
      const last = said.text().trim().split('\n').at(-1)?.slice(-SAID_CHARACTERS) ?? '';
      why ??= `it ended by itself${code === null ? '' : ` with code ${code}`}${code === 0 ? '' : ` (${last})`}`;
      cdp.end(`the browser was ended: ${why}`);
      void given.clean().then(() => resolve(why ?? ''));
    };
    child.once('error', (error) => {
      why ??= error.message;
      finish(null);
    });
    child.once('exit', finish);
  });
  return { cdp, pid: child.pid, folder: given.folder, stop, over: () => why, ended };
}
