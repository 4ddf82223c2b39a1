import { z } from 'zod';
import { OTHER_NAMES, toolsetOf } from './own-tools.ts';
import { addressesIn, bareCommand, goesUp, straight } from './spellings.ts';

/**
 * Which calls of tools are allowed, asked about or denied, by patterns: `read_*`, `shell:cmd=git status*`,
 * `mcp:github:get_*`. What a pattern forbids is read widely, what it allows narrowly: where they are not clear, a person
 * is asked.
 */

const pattern = z
  .string()
  .min(1)
  .max(300)
  .refine((text) => !/[[\]\\]/.test(text), 'a pattern has * and ? as wildcards; [, ] and \\ are not read here');
const patterns = z.array(pattern).max(100).default([]);

export const permissionsSchema = z.strictObject({ allow: patterns, ask: patterns, deny: patterns });
export type Permissions = z.output<typeof permissionsSchema>;

export interface CalledTool {
  name: string;
  toolset: string;
  /** The name that its MCP server gave it; undefined: the tool is the agent's own. */
  offeredAs?: string | undefined;
  /** The arguments that it takes, by name; undefined: not known. */
  takes?: readonly string[] | undefined;
  /** What its owner has said of its server, for all agents. */
  rule?: 'allow' | 'ask' | 'deny' | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;
type Side = 'allow' | 'forbid';

/** Longer ones are not searched: they are not allowed by a pattern, and are caught by every one that forbids. */
const SEARCHED = 2000;
/** Nor is what takes more steps than this, of all patterns together: a model may call 64 tools in one answer. */
const STEPS = 60_000;
/** Of one comparison, beside the characters that are looked at. */
const STEP = 10;

/** What was found out about the arguments of a call, for all patterns, and how much may still be looked at. */
interface Search {
  left: number;
  commands: Map<string, Command>;
  addresses: Map<string, readonly string[] | undefined>;
}
const newSearch = (): Search => ({ left: STEPS, commands: new Map(), addresses: new Map() });

/** What the patterns say of a call; undefined: none of them names it. */
export function permissionFor(
  { allow, ask, deny }: Permissions,
  tool: CalledTool,
  args: Arguments | undefined,
): 'allow' | 'ask' | 'deny' | undefined {
  const search = newSearch();
  if (deny.some((one) => matches(one, tool, args, 'forbid', search))) return 'deny';
  if (allow.some((one) => matches(one, tool, args, 'allow', search))) return 'allow';
  if (ask.some((one) => matches(one, tool, args, 'forbid', search))) return 'ask';
  return undefined;
}

/** `a:b:key=value:key=value`: the name goes on to the first part with an equals sign. */
function parse(text: string): { name: string; conditions: [key: string, value: string][] } {
  const parts = text.split(':');
  const first = parts.findIndex((part, index) => index > 0 && /^[^=]+=/.test(part));
  if (first === -1) return { name: text, conditions: [] };
  const conditions: [string, string][] = [];
  for (const part of parts.slice(first)) {
    const at = part.indexOf('=');
    const last = conditions.at(-1);
    // A colon within a value.
    if (at < 1 && last) last[1] += `:${part}`;
    else conditions.push([part.slice(0, at), part.slice(at + 1)]);
  }
  return { name: parts.slice(0, first).join(':'), conditions };
}

function namesOf({ name, toolset, offeredAs }: CalledTool, side: Side): string[] {
  if (offeredAs !== undefined) {
    const full = [name, `mcp:${toolset}:${offeredAs}`];
    // A server gains nothing by calling its tool like one of the agent's own.
    return side === 'allow' && toolsetOf(offeredAs) !== undefined ? full : [...full, offeredAs];
  }
  return [name, ...Object.keys(OTHER_NAMES).filter((other) => OTHER_NAMES[other] === name)];
}

function matches(text: string, tool: CalledTool, args: Arguments | undefined, side: Side, search: Search): boolean {
  const { name, conditions } = parse(text);
  if (!namesOf(tool, side).some((one) => glob(name, one, side, search))) return false;
  return conditions.every(([key, wanted]) => {
    // An argument that the tool does not have cannot tell its calls apart.
    if (tool.takes && !tool.takes.includes(key)) return side === 'forbid';
    const value = args && Object.hasOwn(args, key) ? args[key] : undefined;
    if (value === undefined) return false;
    const said = spelled(value);
    if (said === undefined) return side === 'forbid' || wanted === '*';
    if (tool.offeredAs === undefined && tool.toolset === 'shell') return inCommand(wanted, said, side, search);
    return side === 'forbid' ? isForbidden(wanted, said, search) : isAllowed(wanted, said, search);
  });
}

/** Once for all patterns. Undefined: it cannot be told. */
function addressesOf(said: string, { addresses }: Search): readonly string[] | undefined {
  if (!addresses.has(said)) addresses.set(said, addressesIn(said));
  return addresses.get(said);
}

function isForbidden(wanted: string, said: string, search: Search): boolean {
  const addresses = addressesOf(said, search);
  if (!addresses) return true;
  return [said, straight(said), ...addresses].some((one) => glob(wanted, one, 'forbid', search));
}

/** As it is written, and as whoever acts on it reads it: `https://evil.example?.ours.example/` is not ours. */
function isAllowed(wanted: string, said: string, search: Search): boolean {
  if (wanted === '*') return true;
  if (goesUp(said) || !glob(wanted, said, 'allow', search)) return false;
  const addresses = addressesOf(said, search);
  if (!addresses) return false;
  return addresses.length === 0 || addresses.some((one) => glob(wanted, one, 'allow', search));
}

/** A value in words; undefined: it is a list or an object, which no pattern describes. */
function spelled(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** What leads from one command to another, or to a file. */
const JOINTS = /[;&|`$<>(){}\n\r]/;

/** A command line, looked through once. */
interface Command {
  /** It is one command, and leads nowhere else. */
  isOne: boolean;
  /** All that a pattern which forbids could mean: the whole, and each command in it. */
  said: readonly Said[];
}

function commandOf(command: string, { commands }: Search): Command {
  const known = commands.get(command);
  if (known) return known;
  const spaced = (text: string): string => text.trim().replace(/\s+/g, ' ');
  const parts = command.length > SEARCHED ? [] : command.split(JOINTS).map(spaced);
  const all = new Set([command, spaced(command), ...parts, ...parts.map(bareCommand)]);
  const found = { isOne: !JOINTS.test(command), said: [...all].map((one) => saidIn(one, 'forbid')) };
  commands.set(command, found);
  return found;
}

/** A command is allowed when it is one command, and forbidden when one of its commands is. */
function inCommand(wanted: string, command: string, side: Side, search: Search): boolean {
  if (wanted === '*') return true;
  const { isOne, said } = commandOf(command, search);
  if (side === 'allow') return isOne && glob(wanted, command, side, search);
  const like = likeIn(wanted, side);
  return said.some((one) => isMatch(like, one, side, search));
}

const glob = (wanted: string, value: string, side: Side, search: Search): boolean =>
  isMatch(likeIn(wanted, side), saidIn(value, side), side, search);

/** What forbids does not tell capitals apart. */
const folded = (text: string, side: Side): string => (side === 'forbid' ? text.toLowerCase() : text);

/** A value as it is compared: of a long one the beginning. */
interface Said {
  text: string;
  isLong: boolean;
}

const saidIn = (value: string, side: Side): Said => ({
  text: folded(value.slice(0, SEARCHED), side),
  isLong: value.length > SEARCHED,
});

/** A pattern as it is compared; `chunks` stand between its `*`. */
type Like = { whole: string } | { begin: string } | { chunks: readonly string[] };

function likeIn(wanted: string, side: Side): Like {
  const text = folded(wanted, side);
  if (!/[*?]/.test(text)) return { whole: text };
  return /^[^*?]*\*$/.test(text) ? { begin: text.slice(0, -1) } : { chunks: text.split('*') };
}

/** `*` stands for anything, within a pattern that allows and has several wildcards for anything but a slash; `?` for one character. */
function isMatch(like: Like, { text, isLong }: Said, side: Side, search: Search): boolean {
  const isWide = side === 'forbid';
  search.left -= STEP;
  if (search.left < 0) return isWide;
  // A pattern has 300 characters: no long value is one to the letter.
  if ('whole' in like) return !isLong && text === like.whole;
  if ('begin' in like) return text.startsWith(like.begin);
  if (isLong) return isWide;
  const found = inChunks(like.chunks, text, isWide, search);
  return search.left < 0 ? isWide : found;
}

/** Whether a text is like a pattern, read narrowly. */
export const isLike = (text: string, like: string): boolean => glob(like, text, 'allow', newSearch());

function inChunks(chunks: readonly string[], said: string, crosses: boolean, search: Search): boolean {
  const [head = '', ...rest] = chunks;
  if (!fits(head, said, 0, search)) return false;
  const tail = rest.pop();
  if (tail === undefined) return head.length === said.length;
  let at = head.length;
  const isPassed = (to: number): boolean => crosses || !said.slice(at, to).includes('/');
  for (const chunk of rest) {
    const found = find(chunk, said, at, search);
    if (found < 0 || !isPassed(found)) return false;
    at = found + chunk.length;
  }
  const end = said.length - tail.length;
  return end >= at && isPassed(end) && fits(tail, said, end, search);
}

/** Where the chunk stands next; negative: nowhere. */
function find(chunk: string, said: string, from: number, search: Search): number {
  if (!chunk.includes('?')) {
    search.left -= 1;
    return said.indexOf(chunk, from);
  }
  for (let at = from; at <= said.length - chunk.length; at++) if (fits(chunk, said, at, search)) return at;
  return -1;
}

/** False as well when there is nothing left to look with, which ends every search. */
function fits(chunk: string, said: string, at: number, search: Search): boolean {
  if (at + chunk.length > said.length) return false;
  let index = 0;
  while (index < chunk.length && (chunk[index] === '?' || chunk[index] === said[at + index])) index++;
  search.left -= index + 1;
  return search.left >= 0 && index === chunk.length;
}
