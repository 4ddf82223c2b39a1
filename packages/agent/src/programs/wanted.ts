import path from 'node:path';

/** Which npm package a command names, as `npx -y package@version …` does, and what the program is told. */

export interface Wanted {
  /** As the owner wrote it: what a pin is for. */
  spec: string;
  name: string;
  /** A version, a range of them or a tag. */
  range: string;
  /** The program of the package that is meant; undefined: the one that has its name, or its only one. */
  bin: string | undefined;
  args: readonly string[];
}

interface Command {
  command?: string | undefined;
  args: readonly string[];
}

/** Programs that run packages, and what stands between them and the package. */
const RUNNERS: Readonly<Record<string, readonly string[] | undefined>> = {
  npx: undefined,
  bunx: undefined,
  pnpx: undefined,
  npm: ['exec', 'x'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
};

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const LONGEST = 214;
const RANGE = /^[\w.^~<>=*|+ -]{1,100}$/;
/** They say what happens here anyway. */
const IDLE = new Set(['-y', '--yes', '-q', '--quiet', '--silent', '--prefer-offline', '--ignore-existing']);

const runnerOf = ({ command = '', args }: Command): readonly string[] | undefined => {
  const name = path.posix.basename(command);
  if (!Object.hasOwn(RUNNERS, name)) return undefined;
  const verbs = RUNNERS[name];
  if (!verbs) return args;
  return verbs.includes(args[0] ?? '') ? args.slice(1) : undefined;
};

/** Whether the command runs a package, understood or not. */
export const runsPackage = (command: Command): boolean => runnerOf(command) !== undefined;

/** `name`, `name@range`, both with a scope; undefined: a folder, an address, a repository. */
export function readSpec(spec: string): { name: string; range: string } | undefined {
  const at = spec.indexOf('@', 1);
  const name = at === -1 ? spec : spec.slice(0, at);
  const range = at === -1 ? 'latest' : spec.slice(at + 1).trim();
  return NAME.test(name) && name.length <= LONGEST && RANGE.test(range) ? { name, range } : undefined;
}

/** What options before the package say. */
function optionsOf(args: readonly string[]): { given: string | undefined; rest: readonly string[] } {
  let given: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') return { given, rest: args.slice(at + 1) };
    if (!arg.startsWith('-')) return { given, rest: args.slice(at) };
    const named = /^(?:-p|--package)(?:=(.*))?$/.exec(arg);
    if (named && given === undefined) given = named[1] ?? args[++at] ?? '';
    else if (!IDLE.has(arg))
      throw new Error(`${arg.slice(0, 40)} is not understood here: write npx -y package@version`);
  }
  return { given, rest: [] };
}

/** Throws a sentence where it cannot be understood; undefined: the command runs no package. */
export function wantedBy(command: Command): Wanted | undefined {
  const args = runnerOf(command);
  if (!args) return undefined;
  const { given, rest } = optionsOf(args);
  const [first, ...after] = rest;
  const spec = given ?? first ?? '';
  const read = readSpec(spec);
  if (!read)
    throw new Error(
      `${spec.slice(0, 80) || 'nothing'} is no package of the registry: only those can be pinned; write npx -y package@version`,
    );
  // npm's own: what stands after the package's options is the program's.
  const told = given === undefined && after[0] === '--' ? after.slice(1) : after;
  return { spec, ...read, bin: given === undefined ? undefined : first, args: told };
}
