import { isLike, type AgentDefinition } from '@troupe/domain';
import type { Tool } from './tool.ts';

/** Results that are JSON, written so that they cost fewer tokens: names of fields once for a whole list (TOON). */

const MOST_CHARACTERS = 500_000;
const MOST_DEEP = 32;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** What would be read as something else, or as the end of a value, stands in quotes. */
const UNCLEAR = /^$|^\s|\s$|[",:[\]{}\\\p{Cc}]|^-|^(?:true|false|null)$|^[+.\d]/u;
const word = (text: string): string => (UNCLEAR.test(text) ? JSON.stringify(text) : text);
const plain = (value: unknown): string => (typeof value === 'string' ? word(value) : JSON.stringify(value));

/** The fields of all entries, if they are the same and none has parts. */
function columnsOf(list: readonly unknown[]): string[] | undefined {
  const [first] = list;
  if (!isObject(first)) return undefined;
  const names = Object.keys(first);
  const isSame = list.every(
    (one) =>
      isObject(one) &&
      Object.keys(one).length === names.length &&
      names.every((name) => Object.hasOwn(one, name) && isPlain(one[name])),
  );
  return isSame && names.length > 0 ? names : undefined;
}

function listLines(key: string, list: readonly unknown[], indent: string, depth: number): string[] {
  const head = `${indent}${key}[${list.length}]`;
  if (list.every(isPlain)) return [`${head}: ${list.map(plain).join(',')}`.trimEnd()];
  const columns = columnsOf(list);
  if (!columns) return [`${head}:`, ...list.flatMap((one) => lines('-', one, `${indent}  `, depth + 1))];
  const rows = (list as readonly Fields[]).map((one) => columns.map((name) => plain(one[name])).join(','));
  return [`${head}{${columns.map(word).join(',')}}:`, ...rows.map((row) => `${indent}  ${row}`)];
}

function lines(key: string, value: unknown, indent: string, depth: number): string[] {
  if (isPlain(value) || depth > MOST_DEEP)
    return [`${indent}${key}${key === '-' ? ' ' : ': '}${isPlain(value) ? plain(value) : JSON.stringify(value)}`];
  if (Array.isArray(value)) return listLines(key === '-' ? '- ' : key, value, indent, depth);
  return [
    `${indent}${key}${key === '-' ? '' : ':'}`,
    ...Object.entries(value as Fields).flatMap(([name, part]) => lines(word(name), part, `${indent}  `, depth + 1)),
  ];
}

/** The text as it is where it is no JSON of parts. */
export function toon(text: string): string {
  if (text.length > MOST_CHARACTERS || !/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return listLines('', value, '', 0).join('\n');
    return Object.entries(value as Fields)
      .flatMap(([name, part]) => lines(word(name), part, '', 0))
      .join('\n');
  } catch {
    // No JSON, or deeper than anybody reads.
    return text;
  }
}

/** The same tools; those that the definition names answer so. */
export function shortened({ traits }: AgentDefinition, tools: readonly Tool[]): readonly Tool[] {
  const rules = new Map(Object.entries(traits?.toon ?? {}));
  if (rules.size === 0) return tools;
  return tools.map((tool) => {
    const patterns = rules.get(tool.toolset) ?? [];
    const names = [tool.name, tool.offeredAs ?? tool.name];
    if (!patterns.some((pattern) => names.some((name) => isLike(name, pattern)))) return tool;
    return {
      ...tool,
      async run(args, context) {
        const result = await tool.run(args, context);
        return { ...result, content: toon(result.content) };
      },
    };
  });
}
