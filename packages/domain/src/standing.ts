import { z } from 'zod';
import type { CalledTool } from './permissions.ts';
import { ADDRESS_LENGTH } from './web-address.ts';

/**
 * What an owner allowed for good while a call waited for them: this tool, and no wider than said. Rules only take the
 * question away; what is denied stays denied.
 */

export const MOST_STANDING = 200;
const WITHIN_LENGTH = 2000;

export const standingRule = z.object({
  tool: z.string().min(1).max(200),
  /** A file, a folder with `/**` behind it, a host, or a whole command; null: whatever the call says. */
  within: z.string().min(1).max(WITHIN_LENGTH).nullable(),
  /** Of a command: where it runs. */
  folder: z.string().max(WITHIN_LENGTH).optional(),
  since: z.iso.datetime().optional(),
  /** The conversation in which it was made. */
  from: z.string().max(200).optional(),
});
export type StandingRule = z.output<typeof standingRule>;

/** Whether two rules hold for the same, whenever they were made. */
export const isSameRule = (a: StandingRule, b: StandingRule): boolean =>
  a.tool === b.tool && a.within === b.within && a.folder === b.folder;

type Arguments = Readonly<Record<string, unknown>>;

const FOLDER = '/**';
/** Arguments of the own tools for files that say where. */
const PLACES = ['path', 'source', 'destination'];

/** A path without detours; undefined: it is none, leads out of the folder that it begins in, or would be read as a folder's rule. */
function straight(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.startsWith('/') || /[\\\0]/.test(value)) return undefined;
  const parts = value.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') || parts.at(-1) === '**' ? undefined : parts.join('/');
}

const pathsIn = (args: Arguments): (string | undefined)[] =>
  PLACES.filter((key) => Object.hasOwn(args, key)).map((key) => straight(args[key]));

function isInside(path: string, within: string): boolean {
  if (!within.endsWith(FOLDER)) return path === within;
  return path.startsWith(within.slice(0, -FOLDER.length + 1));
}

/** The host of a page without a name or password in its address. */
function hostOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || url.length > ADDRESS_LENGTH || !URL.canParse(url)) return undefined;
  const { protocol, host, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === '' && password === '' ? host : undefined;
}

const folderOf = (args: Arguments): string => (typeof args['cwd'] === 'string' ? args['cwd'] : '.');

/** Who may write a whole file can do no more by changing a part of it, or by making a folder for it. */
const WITH_WRITING = new Set(['edit_file', 'create_directory']);

/** Whether a rule about one tool speaks of another: of the own tools for files alone. */
function isAbout(rule: StandingRule, { name, toolset, offeredAs }: CalledTool): boolean {
  if (rule.tool === name) return true;
  return rule.tool === 'write_file' && WITH_WRITING.has(name) && toolset === 'filesystem' && offeredAs === undefined;
}

function fits(rule: StandingRule, tool: CalledTool, args: Arguments): boolean {
  if (!isAbout(rule, tool)) return false;
  if (rule.within === null) return true;
  const { within } = rule;
  const { name, toolset, offeredAs } = tool;
  if (offeredAs !== undefined) return false;
  // A folder by the name of a file is another thing than that file.
  if (name !== rule.tool && name === 'create_directory' && !within.endsWith(FOLDER)) return false;
  if (toolset === 'filesystem') {
    const paths = pathsIn(args);
    return paths.length > 0 && paths.every((path) => path !== undefined && isInside(path, within));
  }
  if (toolset === 'shell') return args['cmd'] === within && folderOf(args) === (rule.folder ?? '.');
  return toolset === 'fetch' && hostOf(args['url']) === within;
}

/** Whether the owner does not want to be asked about this call any more. */
export const isStanding = (rules: readonly StandingRule[], tool: CalledTool, args: Arguments | undefined): boolean =>
  args !== undefined && rules.some((rule) => fits(rule, tool, args));

/** Tools whose calls are told apart by where they act. */
const FILE_TOOLS = new Set(['write_file', 'edit_file', 'delete_file', 'create_directory', 'move_file', 'read_file']);

/** What a rule made of this call could hold for, the narrowest first. Of a command: itself, and nothing wider. */
export function standingChoices(tool: string, args: Arguments): Pick<StandingRule, 'within' | 'folder'>[] {
  if (tool === 'shell')
    return typeof args['cmd'] === 'string' && args['cmd'].length <= WITHIN_LENGTH
      ? [{ within: args['cmd'], folder: folderOf(args) }]
      : [];
  if (tool === 'fetch') {
    const host = hostOf(args['url']);
    return [...(host === undefined ? [] : [{ within: host }]), { within: null }];
  }
  if (!FILE_TOOLS.has(tool)) return [{ within: null }];
  const paths = pathsIn(args);
  const [first] = paths;
  if (first === undefined || paths.includes(undefined)) return [{ within: null }];
  const folders = first.split('/').slice(0, -1);
  const above = folders.map((_, at) => `${folders.slice(0, folders.length - at).join('/')}${FOLDER}`);
  const wide = above.filter((within) => paths.every((path) => isInside(path!, within)));
  const whole = paths.length === 1 ? [{ within: first }] : [];
  return [...whole, ...wide.map((within) => ({ within })), { within: null }];
}

/** Of calls that were asked about, how many the rule would have let through. */
export function letThrough(rule: StandingRule, calls: readonly Arguments[]): number {
  const toolset = FILE_TOOLS.has(rule.tool) ? 'filesystem' : rule.tool;
  return calls.filter((args) => fits(rule, { name: rule.tool, toolset }, args)).length;
}
