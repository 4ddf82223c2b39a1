import { z } from 'zod';

/** What somebody expects of a text. Looking for words takes the product of both lengths at worst; the others may take for ever. */
export type Expected =
  | { kind: 'contains' | 'lacks'; text: string }
  | { kind: 'regex'; pattern: string }
  | { kind: 'schema'; schema: Record<string, unknown> };

export interface Looked {
  passed: boolean;
  says: string;
}

const SHOWN = 300;

export function run({ text, expected }: { text: string; expected: Expected }): Looked {
  if (expected.kind === 'regex') return matches(text, expected.pattern);
  if (expected.kind === 'schema') return fits(text, expected.schema);
  const has = text.toLowerCase().includes(expected.text.toLowerCase());
  const says = `The answer ${has ? 'has' : 'lacks'} “${cut(expected.text)}”`;
  return { passed: has === (expected.kind === 'contains'), says };
}

const cut = (words: string): string => (words.length > SHOWN ? `${words.slice(0, SHOWN).toWellFormed()}…` : words);

function matches(text: string, pattern: string): Looked {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, 'iu');
  } catch (error) {
    return { passed: false, says: `The expression cannot be read: ${cut((error as Error).message)}` };
  }
  const [found] = expression.exec(text) ?? [];
  return found === undefined
    ? { passed: false, says: 'Nothing in the answer matches the expression' }
    : { passed: true, says: `Found: ${cut(found)}` };
}

/** Models like to put JSON into a fence. */
const unfenced = (text: string): string => /^\s*```[a-z]*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;

function fits(text: string, schema: Record<string, unknown>): Looked {
  let value: unknown;
  try {
    value = JSON.parse(unfenced(text));
  } catch {
    return { passed: false, says: 'The answer is no JSON' };
  }
  let wanted: z.ZodType;
  try {
    wanted = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    return { passed: false, says: `The schema cannot be used: ${cut((error as Error).message)}` };
  }
  const { error } = wanted.safeParse(value);
  if (!error) return { passed: true, says: 'The answer fits the schema' };
  const [issue] = error.issues;
  return { passed: false, says: cut(`${issue?.path.join('.') || 'The answer'}: ${issue?.message ?? 'does not fit'}`) };
}
