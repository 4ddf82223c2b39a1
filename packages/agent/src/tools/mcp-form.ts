import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { ADDRESS_LENGTH } from '@troupe/domain';
import type { Question } from '../session/events.ts';
import { sizeOf } from './mcp-listing.ts';

/**
 * What an MCP server wants to know of a person, as a question, and what they said, as the server wants it: a form of some
 * fields, or an address to go to. The server may say anything; whoever reads it sees who asks.
 */

const MAX_FORM = { characters: 16_384, depth: 8 };
const MOST_FIELDS = 20;
const MOST_OPTIONS = 10;
const MOST_CHARACTERS = 4_000;
const MOST_IN_LINE = 200;
const PROPOSED = ['As proposed'];
const DONE = 'Done';

type Form = Extract<ElicitRequestParams, { requestedSchema: unknown }>;
type Page = Extract<ElicitRequestParams, { mode: 'url' }>;
type Content = NonNullable<ElicitResult['content']>;
type Value = Content[string];

/** As far as it is read here; a server need not keep to it. */
interface Field {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  default?: unknown;
  enum?: unknown;
  enumNames?: unknown;
  oneOf?: unknown;
  items?: Field | undefined;
  anyOf?: unknown;
  format?: unknown;
  minimum?: unknown;
  maximum?: unknown;
  minLength?: unknown;
  maxLength?: unknown;
  minItems?: unknown;
  maxItems?: unknown;
}

const isPage = (asked: ElicitRequestParams): asked is Page => asked.mode === 'url';

/** One line of it, without what could pass for something else. */
const line = (text: unknown): string =>
  typeof text === 'string'
    ? text
        .slice(0, MOST_IN_LINE)
        .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
        .trim()
    : '';

const several = (text: unknown): string =>
  typeof text === 'string'
    ? text
        .slice(0, MOST_CHARACTERS)
        .replaceAll(/[^\P{Cc}\n]|\p{Cf}/gu, ' ')
        .trim()
    : '';

interface Choice {
  value: string;
  title: string;
}

/** What may be chosen; undefined: anything may be said. */
function choicesOf(field: Field): Choice[] | undefined {
  if (field.type === 'array') return choicesOf({ ...field.items, type: 'string' });
  if (field.type === 'boolean') return ['true', 'false'].map((value) => ({ value, title: yesNo(value === 'true') }));
  const titled = field.oneOf ?? field.anyOf;
  if (Array.isArray(titled))
    return (titled as ({ const?: unknown; title?: unknown } | null)[]).map((one) => ({
      value: String(one?.const ?? ''),
      title: line(one?.title) || line(one?.const),
    }));
  if (!Array.isArray(field.enum)) return undefined;
  const names: unknown[] = Array.isArray(field.enumNames) ? field.enumNames : [];
  return field.enum.map((value, index) => ({ value: String(value), title: line(names[index]) || line(String(value)) }));
}

const yesNo = (value: boolean): string => (value ? 'Yes' : 'No');

const fieldsOf = ({ requestedSchema: { properties } }: Form): [string, Field][] =>
  Object.entries((properties ?? {}) as Record<string, Field>);

const isRequired = ({ requestedSchema: { required } }: Form, name: string): boolean =>
  required?.includes(name) === true;

const inWords = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join(', ') : typeof value === 'boolean' ? yesNo(value) : String(value);

/** A field as a person reads it. */
function described(form: Form, [name, field]: [string, Field]): string {
  const titles = choicesOf(field)?.map(({ title }) => title);
  const notes = [
    isRequired(form, name) ? 'needed' : '',
    titles ? `${field.type === 'array' ? 'some of' : 'one of'}: ${titles.join(', ').slice(0, MOST_IN_LINE)}` : '',
    titles || field.type === 'string' ? line(field.format) : line(field.type),
    field.default === undefined ? '' : `proposed: ${line(inWords(field.default))}`,
  ].filter(Boolean);
  const about = [line(field.title), line(field.description)].filter((text) => text && text !== name).join('. ');
  return `- ${line(name)}${about && `: ${about}`}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

/** Nothing need be said: what is proposed will do. */
const isComplete = (form: Form): boolean =>
  fieldsOf(form).every(([name, field]) => field.default !== undefined || !isRequired(form, name));

function formQuestion(form: Form): Omit<Question, 'title'> {
  const fields = fieldsOf(form);
  const [only] = fields;
  if (only === undefined) return { message: '', options: [DONE] };
  const proposed = isComplete(form) ? PROPOSED : [];
  if (fields.length > 1)
    return {
      message: `${fields.map((field) => described(form, field)).join('\n')}\n\nAnswer with a line for each, as \`name: value\`.`,
      options: proposed,
    };
  const choices = only[1].type === 'array' ? undefined : choicesOf(only[1])?.map(({ title }) => title);
  const options = choices && choices.length <= MOST_OPTIONS ? choices : [];
  return { message: described(form, only), options: options.length > 0 ? options : proposed };
}

/** An address that a person can be sent to; undefined: none that they should be. */
function addressOf({ url }: Page): URL | undefined {
  // Before it is read: to write a host in letters that networks know takes the square of its length.
  if (typeof url !== 'string' || url.length > ADDRESS_LENGTH || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  const isPlain = parsed.protocol === 'https:' && parsed.username === '' && parsed.password === '';
  return isPlain && parsed.href.length <= ADDRESS_LENGTH ? parsed : undefined;
}

/** Undefined: it is nothing that a person could be asked. `wrong`: what was wrong with what they said before. */
export function questionOf(server: string, asked: ElicitRequestParams, wrong?: string): Question | undefined {
  const title = `${line(server)} asks`;
  const words = several(asked.message);
  if (isPage(asked)) {
    const address = addressOf(asked);
    if (!address) return undefined;
    const about = `${address.href}\n\nOpen this address only if you trust ${address.host}. Answer when you are done there.`;
    return { title, message: `${words}\n\n${about}`, options: [DONE] };
  }
  if (sizeOf(asked.requestedSchema, MAX_FORM) === undefined || fieldsOf(asked).length > MOST_FIELDS) return undefined;
  const { message, options = [] } = formQuestion(asked);
  const told = [wrong ?? '', words, message].filter(Boolean).join('\n\n');
  return { title, message: told, ...(options.length > 0 && { options }) };
}

type Read = { content: Content } | { wrong: string };

/** What a person said, as the server wants it. */
export function contentOf(asked: ElicitRequestParams, said: string): Read {
  if (isPage(asked)) return { content: {} };
  const fields = fieldsOf(asked);
  const text = PROPOSED.includes(said.trim()) ? '' : said.trim();
  const given = fields.length === 1 && fields[0] ? new Map([[fields[0][0], text]]) : linesOf(fields, text);
  if (typeof given === 'string') return { wrong: given };
  const content: [string, Value][] = [];
  for (const [name, field] of fields) {
    const value = valueOf(field, given.get(name) ?? '');
    if ('wrong' in value) return { wrong: `${line(name)}: ${value.wrong}` };
    if (value.value !== undefined) content.push([name, value.value]);
    else if (isRequired(asked, name)) return { wrong: `${line(name)} is needed.` };
  }
  return { content: Object.fromEntries(content) };
}

/** What stands in each line; a sentence says what does not fit. */
function linesOf(fields: [string, Field][], text: string): Map<string, string> | string {
  const names = new Map(fields.flatMap(([name, { title }]) => [[name.toLowerCase(), name], ...titled(title, name)]));
  const given = new Map<string, string>();
  for (const each of fields.length === 0 ? [] : text.split('\n').filter((one) => one.trim() !== '')) {
    // Cut by hand: an expression with spaces before and in the name takes the square of them.
    const at = each.search(/[:=]/);
    const label = each.slice(0, Math.max(at, 0)).trim().replace(/^[-*]/, '').trim();
    const name = names.get(label.toLowerCase());
    if (name === undefined) return `There is no field “${line(label || each)}”.`;
    given.set(name, each.slice(at + 1).trim());
  }
  return given;
}

const titled = (title: unknown, name: string): [string, string][] =>
  typeof title === 'string' && title.trim() !== '' ? [[title.trim().toLowerCase(), name]] : [];

type Valued = { value: Value | undefined } | { wrong: string };

function valueOf(field: Field, text: string): Valued {
  if (text === '') return { value: field.default as Value | undefined };
  if (field.type === 'array') return listOf(field, text);
  const choices = choicesOf(field);
  if (choices) {
    const chosen = chosenOf(choices, text);
    if (chosen === undefined) return { wrong: `“${line(text)}” is not one of ${titles(choices)}.` };
    return { value: field.type === 'boolean' ? chosen === 'true' : chosen };
  }
  if (field.type === 'number' || field.type === 'integer') return numberOf(field, text);
  return textOf(field, text);
}

const titles = (choices: readonly Choice[]): string =>
  choices
    .map(({ title }) => title)
    .join(', ')
    .slice(0, MOST_IN_LINE);

function chosenOf(choices: readonly Choice[], text: string): string | undefined {
  const wanted = text.trim().toLowerCase();
  return choices.find(({ value, title }) => [value, title].some((one) => one.toLowerCase() === wanted))?.value;
}

const beyond = (count: number, least: unknown, most: unknown): boolean =>
  (typeof least === 'number' && count < least) || (typeof most === 'number' && count > most);

function listOf(field: Field, text: string): Valued {
  const choices = choicesOf(field) ?? [];
  const wanted = text.split(',').filter((one) => one.trim() !== '');
  const chosen = wanted.map((one) => chosenOf(choices, one));
  const unknown = wanted[chosen.indexOf(undefined)];
  if (unknown !== undefined) return { wrong: `“${line(unknown)}” is not one of ${titles(choices)}.` };
  if (beyond(chosen.length, field.minItems, field.maxItems)) return { wrong: 'that many cannot be chosen.' };
  return { value: chosen.filter((one) => one !== undefined) };
}

function numberOf(field: Field, text: string): Valued {
  const value = Number(text);
  if (!Number.isFinite(value)) return { wrong: `“${line(text)}” is not a number.` };
  if (field.type === 'integer' && !Number.isInteger(value)) return { wrong: 'it must be a whole number.' };
  return beyond(value, field.minimum, field.maximum) ? { wrong: 'it is too small or too large.' } : { value };
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/u.test(text),
  uri: (text) => text.length <= ADDRESS_LENGTH && URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/u.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d\d-\d\d[T ]/u.test(text) && !Number.isNaN(Date.parse(text)),
};

function textOf(field: Field, text: string): Valued {
  if (beyond(text.length, field.minLength, field.maxLength)) return { wrong: 'it is too short or too long.' };
  const format = typeof field.format === 'string' ? field.format : '';
  const fits = Object.hasOwn(FORMATS, format) ? FORMATS[format]! : () => true;
  return fits(text) ? { value: text } : { wrong: `it is no ${format}.` };
}
