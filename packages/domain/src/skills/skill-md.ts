import { parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { repeatedKey } from '../yaml-keys.ts';
import { isSkillName, SKILL_BOUNDS, type SkillHead } from './skill.ts';

/** Apart from the rest of the package, as the YAML library is: read in a thread where somebody else wrote it. */

export type SkillMdReading =
  | { ok: true; head: SkillHead; body: string; warnings: string[] }
  | { ok: false; error: string };

const HEAD_CHARACTERS = 16_384;
const KEYS = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']);

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const text = (name: string, max: number) =>
  z
    .string({ error: `${name} must be a text` })
    .trim()
    .min(1, `${name} must not be empty`)
    .max(max, `${name} has more than ${max} characters`);

const headSchema = z.object(
  {
    name: z
      .string({ error: 'name is missing' })
      .refine(isSkillName, `name must be 1 to ${SKILL_BOUNDS.name} of a–z, 0–9 and single hyphens`),
    description: text('description', SKILL_BOUNDS.description),
    // The format has no bound for it: some bring the whole of a licence.
    license: text('license', HEAD_CHARACTERS).optional(),
    compatibility: text('compatibility', SKILL_BOUNDS.compatibility).optional(),
    metadata: z.record(z.string().max(100), scalar, { error: 'metadata must be texts by name' }).default({}),
    'allowed-tools': z
      .union([z.string(), z.array(z.string())], { error: 'allowed-tools must be a text or a list' })
      .default('')
      .transform((given) => (Array.isArray(given) ? given : splitTools(given)).filter(Boolean)),
  },
  { error: 'its frontmatter is no list of keys and values' },
);

/** At spaces and commas, but not within brackets: `Bash(git add:*) Read`. */
const splitTools = (given: string): string[] =>
  (given.match(/[^\s,(]+(?:\([^)]{0,200}\))?/g) ?? []).map((one) => one.trim());

/** Reads what somebody wrote. Small slips are mended and told; the error says what cannot be. */
export function readSkillMd(given: string): SkillMdReading {
  const whole = given.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  if (whole.length > SKILL_BOUNDS.text) return bad(`it has more than ${SKILL_BOUNDS.text} characters`);
  const parts = /^---[ \t]*\n(?<head>[\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(whole);
  if (!parts?.groups) return bad('it does not begin with a frontmatter between two lines of ---');
  const { head: front = '' } = parts.groups;
  if (front.length > HEAD_CHARACTERS) return bad(`its frontmatter has more than ${HEAD_CHARACTERS} characters`);
  const warnings: string[] = [];
  let raw = readYaml(front);
  if ('error' in raw) {
    const mended = readYaml(quoteColons(front));
    if ('error' in mended) return bad(`its frontmatter is not valid YAML: ${raw.error}`);
    raw = mended;
    warnings.push('A value with a colon was not quoted; it was read as text.');
  }
  const parsed = headSchema.safeParse(raw.value ?? {});
  if (!parsed.success) return bad(parsed.error.issues[0]?.message.trim() ?? 'its frontmatter is not valid');
  const { license, compatibility, 'allowed-tools': allowedTools, ...rest } = parsed.data;
  const unknown = Object.keys(raw.value as object).filter((key) => !KEYS.has(key));
  if (unknown.length > 0) warnings.push(`Unknown keys of the frontmatter are not used: ${listed(unknown)}.`);
  const body = whole.slice(parts[0].length).trim();
  if (body === '') warnings.push('There are no instructions below the frontmatter.');
  const head = { ...rest, allowedTools, ...(license && { license }), ...(compatibility && { compatibility }) };
  return { ok: true, head, body, warnings };
}

const bad = (why: string): SkillMdReading => ({ ok: false, error: `SKILL.md cannot be used: ${why}` });
const listed = (names: readonly string[]): string =>
  names
    .map((name) => name.slice(0, 40))
    .slice(0, 10)
    .join(', ');

function readYaml(front: string): { value: unknown } | { error: string } {
  try {
    const document = parseDocument(front, { uniqueKeys: false });
    const [error] = document.errors;
    if (error) throw error;
    const twice = repeatedKey(document);
    if (twice !== undefined) throw new Error(`the key ${twice.slice(0, 100)} stands twice`);
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (isOdd(value)) throw new Error('it has control characters');
    return { value };
  } catch (error) {
    return { error: (error as Error).message.split('\n')[0] ?? '' };
  }
}

/** Escapes can say what no text may hold. */
function isOdd(value: unknown): boolean {
  // oxlint-disable-next-line no-control-regex -- what steers a terminal is looked for
  if (typeof value === 'string') return /[\p{Cs}\u0000-\u0008\u000B-\u001F]/u.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, part]) => isOdd(key) || isOdd(part));
}

/** `description: Use it when: …` is no YAML, and often written. */
const quoteColons = (front: string): string =>
  front
    .split('\n')
    .map((line) => {
      const [, key, value = ''] = /^([a-z-]+):[ \t]+(.*)$/.exec(line) ?? [];
      return key !== undefined && value.includes(': ') && !/^["'|>[{]/.test(value)
        ? `${key}: ${JSON.stringify(value)}`
        : line;
    })
    .join('\n');

/** The file as others read it; reading it back gives the same. */
export function writeSkillMd({ allowedTools, metadata, ...head }: SkillHead, body: string): string {
  const front = {
    ...head,
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(allowedTools.length > 0 && { 'allowed-tools': allowedTools.join(' ') }),
  };
  return `---\n${stringify(front, { lineWidth: 0 })}---\n\n${body.trim()}\n`;
}
