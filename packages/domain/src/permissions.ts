import { z } from 'zod';
import { OTHER_NAMES, toolsetOf } from './own-tools.ts';

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
}

type Arguments = Readonly<Record<string, unknown>>;
type Side = 'allow' | 'forbid';

/** Longer ones are not searched: they are not allowed by a pattern, and are caught by every one that forbids. */
const SEARCHED = 2000;

/** What the patterns say of a call; undefined: none of them names it. */
export function permissionFor(
  { allow, ask, deny }: Permissions,
  tool: CalledTool,
  args: Arguments | undefined,
): 'allow' | 'ask' | 'deny' | undefined {
  if (deny.some((one) => matches(one, tool, args, 'forbid'))) return 'deny';
  if (allow.some((one) => matches(one, tool, args, 'allow'))) return 'allow';
  if (ask.some((one) => matches(one, tool, args, 'forbid'))) return 'ask';
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

function matches(text: string, tool: CalledTool, args: Arguments | undefined, side: Side): boolean {
  const { name, conditions } = parse(text);
  if (!namesOf(tool, side).some((one) => glob(name, one, side))) return false;
  return conditions.every(([key, wanted]) => {
    // An argument that the tool does not have cannot tell its calls apart.
    if (tool.takes && !tool.takes.includes(key)) return side === 'forbid';
    const value = args && Object.hasOwn(args, key) ? args[key] : undefined;
    if (value === undefined) return false;
    const said = spelled(value);
    if (said === undefined) return side === 'forbid' || wanted === '*';
    if (tool.offeredAs === undefined && tool.toolset === 'shell') return inCommand(wanted, said, side);
    return glob(wanted, said, side);
  });
}

/** A value in words; undefined: it is a list or an object, which no pattern describes. */
function spelled(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** What leads from one command to another, or to a file. */
const JOINTS = /[;&|`$<>(){}\n\r]/;

/** A command is allowed when it is one command, and forbidden when one of its commands is. */
function inCommand(wanted: string, command: string, side: Side): boolean {
  if (wanted === '*') return true;
  if (side === 'allow') return !JOINTS.test(command) && glob(wanted, command, side);
  const spaced = (text: string): string => text.trim().replace(/\s+/g, ' ');
  const parts = command.length > SEARCHED ? [] : command.split(JOINTS).map(spaced);
  return [command, spaced(command), ...parts].some((one) => glob(wanted, one, side));
}

/** `*` stands for anything, within a pattern that allows and has several wildcards for anything but a slash; `?` for one character. */
function glob(wanted: string, value: string, side: Side): boolean {
  const isWide = side === 'forbid';
  const [text, said] = isWide ? [wanted.toLowerCase(), value.toLowerCase()] : [wanted, value];
  if (!/[*?]/.test(text)) return text === said;
  if (/^[^*?]*\*$/.test(text)) return said.startsWith(text.slice(0, -1));
  if (said.length > SEARCHED) return isWide;
  return inChunks(text.split('*'), said, isWide);
}

/** Whether a text is like a pattern, read narrowly. */
export const isLike = (text: string, like: string): boolean => glob(like, text, 'allow');

function inChunks(chunks: readonly string[], said: string, crosses: boolean): boolean {
  const [head = '', ...rest] = chunks;
  if (!fits(head, said, 0)) return false;
  const tail = rest.pop();
  if (tail === undefined) return head.length === said.length;
  let at = head.length;
  const isPassed = (to: number): boolean => crosses || !said.slice(at, to).includes('/');
  for (const chunk of rest) {
    let found = at;
    while (found <= said.length - chunk.length && !fits(chunk, said, found)) found++;
    if (found > said.length - chunk.length || !isPassed(found)) return false;
    at = found + chunk.length;
  }
  const end = said.length - tail.length;
  return end >= at && isPassed(end) && fits(tail, said, end);
}

function fits(chunk: string, said: string, at: number): boolean {
  if (at + chunk.length > said.length) return false;
  for (let index = 0; index < chunk.length; index++)
    if (chunk[index] !== '?' && chunk[index] !== said[at + index]) return false;
  return true;
}
