import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The shell is the browser without its windows, and takes a fifth less of a processor. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

const found = (names: readonly string[]): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));

/** The system's browser: none is downloaded. */
const browser = (): string | undefined => process.env['CHROMIUM_PATH'] ?? found(NAMES);

/** As the kernel numbers them, for the machines that Troupe runs on. */
const MACHINES: Readonly<Record<string, { audit: number; socket: number }>> = {
  x64: { audit: 0xc000003e, socket: 41 },
  arm64: { audit: 0xc00000b7, socket: 198 },
};
const AF_NETLINK = 16;
const [LOAD, IS_EQUAL, RETURN] = [0x20, 0x15, 0x06];
const [ALLOW, NOT_SUPPORTED] = [0x7fff0000, 0x00050000 | 97];

/** A filter for seccomp under which no socket hears of the machine's network. */
function deaf({ audit, socket }: { audit: number; socket: number }): Buffer {
  const lines: [code: number, jt: number, jf: number, k: number][] = [
    [LOAD, 0, 0, 4],
    [IS_EQUAL, 0, 5, audit],
    [LOAD, 0, 0, 0],
    [IS_EQUAL, 0, 3, socket],
    [LOAD, 0, 0, 16],
    [IS_EQUAL, 0, 1, AF_NETLINK],
    [RETURN, 0, 0, NOT_SUPPORTED],
    [RETURN, 0, 0, ALLOW],
  ];
  return Buffer.concat(
    lines.map(([code, jt, jf, k]) => {
      const line = Buffer.alloc(8);
      line.writeUInt16LE(code, 0);
      line.writeUInt8(jt, 2);
      line.writeUInt8(jf, 3);
      line.writeUInt32LE(k, 4);
      return line;
    }),
  );
}

let wrapped: string | undefined;

/**
 * What starts the browser. When a network of the machine comes or goes, Chromium ends all requests that are under way,
 * and tests of containers beside make and remove networks: where bubblewrap is, the browser does not hear of it. And it
 * stays behind those who measure, as all tests do: a browser of root would go before them, and as a session of its own
 * it counts as much as all others together.
 */
export function browserProgram(): string | undefined {
  const program = browser();
  const machine = MACHINES[process.arch];
  const bwrap = found(['bwrap']);
  if (program === undefined || machine === undefined || bwrap === undefined || process.platform !== 'linux')
    return program;
  if (wrapped !== undefined) return wrapped;
  const folder = mkdtempSync(join(tmpdir(), 'troupe-browser-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'deaf'), deaf(machine));
  wrapped = join(folder, 'browser');
  writeFileSync(
    wrapped,
    `#!/bin/sh
{ echo ${Math.max(0, getPriority())} >/proc/self/autogroup; } 2>/dev/null
exec '${bwrap}' --dev-bind / / --cap-drop CAP_SYS_NICE --seccomp 9 '${program}' "$@" 9<'${folder}/deaf'
`,
  );
  chmodSync(wrapped, 0o700);
  return wrapped;
}
