import { parseDocument } from 'yaml';
import type { Note } from '../teams/sift.ts';
import { repeatedKey } from '../yaml-keys.ts';

/** What all formats of others are read with. Bytes come in, nothing is fetched, and nothing runs. */

export interface BundleFile {
  path: string;
  content: Uint8Array;
}

export const IMPORT_FORMATS = ['docker-agent', 'openclaw', 'paperclip', 'letta'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Written into the workspace of an agent. */
interface AgentFile extends BundleFile {
  agent: string;
}

interface ImportedTask {
  agent: string;
  name: string;
  prompt: string;
  cronSchedule: string;
  timezone: string;
}

export interface ImportedSkill {
  name: string;
  /** Who had it. */
  agents: string[];
  files: BundleFile[];
}

interface ImportedMemory {
  agent: string;
  key: string;
  content: string;
}

/** What somebody's files become, before the team is checked. `files` are those that `rag` of the document names. */
export interface Carried {
  format: ImportFormat;
  document: unknown;
  files: BundleFile[];
  workspace: AgentFile[];
  memories: ImportedMemory[];
  skills: ImportedSkill[];
  tasks: ImportedTask[];
  notCarried: Note[];
  toGive: Note[];
  /** Paths that were looked at: the others are named as not carried. */
  used: Set<string>;
}

export const carriedOf = (format: ImportFormat): Carried => ({
  format,
  document: {},
  files: [],
  workspace: [],
  memories: [],
  skills: [],
  tasks: [],
  notCarried: [],
  toGive: [],
  used: new Set(),
});

/** Says in a sentence why somebody's files are not taken. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}

export type Given = Record<string, unknown>;

export const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): Given => (isObject(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textsOf = (value: unknown): string[] => listOf(value).filter((one) => typeof one === 'string');
export const isThere = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0);

export const short = (text: string, most = 120): string => text.toWellFormed().replace(/\p{C}/gu, '?').slice(0, most);

export function decoded({ path, content }: BundleFile): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new ImportError(`${short(path)} is not UTF-8 text`);
  }
}

/** As much as a team's document may have that is sent by itself: to read more takes seconds. */
const MOST_YAML = 500_000;

/** The library takes seconds before it gives up on them. */
const MOST_OPEN = 1_000;

const tooLarge = (path: string): ImportError =>
  new ImportError(`${short(path)} is too large for a document of agents (max ${MOST_YAML} characters)`);

/** A character has four bytes at most: what is larger need not be read to know. */
export function checkSize({ path, content }: BundleFile): void {
  if (content.length > 4 * MOST_YAML) throw tooLarge(path);
}

export function checkYaml(text: string, path: string): void {
  if (text.length > MOST_YAML) throw tooLarge(path);
  let open = 0;
  for (const [bracket] of text.matchAll(/[[{\]}]/g)) open += bracket === '[' || bracket === '{' ? 1 : -1;
  if (open > MOST_OPEN) throw new ImportError(`${short(path)} has more than ${MOST_OPEN} brackets that are not closed`);
}

export function yamlOf(text: string, path: string): unknown {
  checkYaml(text, path);
  const document = parseDocument(text, { uniqueKeys: false });
  const [error] = document.errors;
  if (error) throw new ImportError(`${short(path)} is not valid YAML: ${short(error.message.split('\n')[0] ?? '')}`);
  const twice = repeatedKey(document);
  if (twice !== undefined)
    throw new ImportError(`${short(path)}: the key ${short(twice)} stands twice in the same place`);
  return document.toJS({ maxAliasCount: 20 });
}

/** A Markdown file with keys and values on top. */
export function withHead(file: BundleFile): { head: Given; body: string } {
  const text = decoded(file).replace(/^\uFEFF/, '');
  const found = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!found) return { head: {}, body: text.trim() };
  const head = yamlOf(found[1] ?? '', file.path);
  return { head: objectOf(head), body: text.slice(found[0].length).trim() };
}

/** Names for agents: letters, digits, _ and -, each once. */
export function createNames() {
  const taken = new Set<string>();
  return (wanted: string): string => {
    const plain =
      wanted
        .normalize('NFKD')
        .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
        .replaceAll(/^[-_]+|-+$/g, '')
        .slice(0, 50) || 'agent';
    let name = plain;
    for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = `${plain}-${n}`;
    taken.add(name.toLowerCase());
    return name;
  };
}

const VENDORS: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'anthropic'],
  [/^(?:gpt|o\d|chatgpt)/i, 'openai'],
  [/^gemini/i, 'google'],
  [/^grok/i, 'x-ai'],
  [/^deepseek/i, 'deepseek'],
];

/** A model as it is called here; undefined: nobody can say whose it is. */
export function modelNamed(name: string, by = ''): string | undefined {
  if (name === '') return undefined;
  if (name.includes('/')) return name;
  const vendor = VENDORS.find(([like]) => like.test(name))?.[1] ?? by;
  return vendor === '' ? undefined : `${vendor}/${name}`;
}

/** The skills in the folder `skills`, each with its files. */
export function skillsIn(files: readonly BundleFile[], folder: string, used: Set<string>): ImportedSkill[] {
  const found = new Map<string, BundleFile[]>();
  for (const file of files) {
    if (!file.path.startsWith(`${folder}/`)) continue;
    const rest = file.path.slice(folder.length + 1);
    const slash = rest.indexOf('/');
    if (slash <= 0) continue;
    const name = rest.slice(0, slash);
    found.set(name, [...(found.get(name) ?? []), { path: rest.slice(slash + 1), content: file.content }]);
  }
  const whole = [...found].filter(([, own]) => own.some(({ path }) => path === 'SKILL.md'));
  for (const [name, own] of whole) for (const { path } of own) used.add(`${folder}/${name}/${path}`);
  return whole.map(([name, own]) => ({ name, agents: [], files: own }));
}
