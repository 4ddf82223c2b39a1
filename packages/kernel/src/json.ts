import { AppError } from './errors.ts';

/** Every JSON text from outside comes in here: bodies, WebSocket messages, agents' gateways, headers that carry JSON. */

/** Levels that a JSON value may be nested: whatever walks it by recursion is safe. */
const MAX_JSON_DEPTH = 64;

export const NO_NULL_CHARACTERS = 'Null characters are not allowed';
const tooDeep = (deepest: number): string => `JSON must not be nested deeper than ${deepest} levels`;
/** Of one text. Each takes ten times as long to make as a number in a list, and far more memory. */
const MOST_PARTS = 50_000;
const tooManyParts = (most: number): string => `JSON must not have more than ${most} lists, objects and fields`;
const HALF_CHARACTER = 'Text must be valid Unicode: it has one half of a surrogate pair without the other';

/** A text longer than this must be mostly plain strings, such as pictures: many small values and escapes take long to read. */
const SMALL_TEXT = 1_048_576;
const MOST_MARKS = 1_000_000;
const TOO_MANY =
  'JSON of more than 1 MB must not have more than a million characters outside of its texts, nor as many escapes in them';

/** The value of a JSON text, or a 400 that says what is wrong with it; `invalid` is told for what does not parse. */
export function parseJson(given: string, invalid = 'Invalid JSON'): unknown {
  if (given.length > SMALL_TEXT && (hasManyEscapes(given) || hasManyValues(given, MOST_MARKS)))
    throw new AppError(400, TOO_MANY);
  // Before it is parsed: what comes out of here may be walked by recursion.
  const tooMuch = faultOfShape(given);
  if (tooMuch !== undefined) throw new AppError(400, tooMuch);
  let value: unknown;
  try {
    value = JSON.parse(given.startsWith('\uFEFF') ? given.slice(1) : given);
  } catch (error) {
    throw new AppError(400, invalid, {}, { cause: error });
  }
  // Only an escape can bring in half a character or a zero, and only these names can reach a prototype.
  if (given.includes(String.raw`\u`) || given.includes('__proto__') || given.includes('constructor')) {
    const fault = faultOf(value);
    if (fault) throw new AppError(400, fault === 'prototype' ? invalid : fault);
  }
  return value;
}

/** The same for texts that have few values, however long these are: one with many takes long to read, and is not read. */
export function parseFewJson(given: string, mostMarks: number): unknown {
  if (given.length > mostMarks && hasManyValues(given, mostMarks))
    throw new AppError(400, `JSON must not have more than ${mostMarks} characters outside of its texts here`);
  return parseJson(given);
}

/** Of what a service answers: lists of models and of tools are long. */
const MOST_ANSWERED = 200_000;
/** Schemas of tools are nested as their makers like; whoever walks them bounds that. Far below what V8 can write again. */
const ANSWER_DEPTH = 5_000;
/** A text that no check is worth: it is read before it would be looked through. */
const SHORT_ANSWER = 8_192;

/** Why what another server answered is not read: it would take long, or longer to walk. */
export const answerFault = (text: string, most = MOST_ANSWERED): string | undefined =>
  text.length > SHORT_ANSWER ? faultOfShape(text, most, ANSWER_DEPTH) : undefined;

/** The value of what another server answered; a SyntaxError also for what is not read. */
export function parseAnswer(text: string, most = MOST_ANSWERED): unknown {
  const fault = answerFault(text, most);
  if (fault !== undefined) throw new SyntaxError(fault);
  return JSON.parse(text);
}

/** What is wrong with a text that is no JSON, if anything. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return NO_NULL_CHARACTERS;
  return text.isWellFormed() ? undefined : HALF_CHARACTER;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** In one pass, without recursion. A text with few brackets and colons, as most are, is not even read. */
function faultOfShape(text: string, most = MOST_PARTS, deepest = MAX_JSON_DEPTH): string | undefined {
  if (!hasMany(text, ['{', '['], MAX_JSON_DEPTH) && !hasMany(text, [':'], most - MAX_JSON_DEPTH)) return undefined;
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return undefined;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      parts += 1;
      if (depth > deepest) return tooDeep(deepest);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    else if (code === COLON) parts += 1;
    if (parts > most) return tooManyParts(most);
  }
  return undefined;
}

/** Before anything else looks for where a string ends: that takes as many steps as it has escapes. */
function hasManyEscapes(text: string): boolean {
  let found = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    found += 1;
    if (found > MOST_MARKS) return true;
  }
  return false;
}

/** Counts what is no part of a string, and each string as one. */
function hasManyValues(text: string, most: number): boolean {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    marks += 1;
    if (marks > most) return true;
    if (text.charCodeAt(at) !== QUOTE) continue;
    at = endOfString(text, at);
    if (at < 0) return false;
  }
  return false;
}

function hasMany(text: string, marks: readonly string[], most: number): boolean {
  let found = 0;
  for (const mark of marks) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      found += 1;
      if (found > most) return true;
    }
  }
  return false;
}

/** Where the string that begins at `start` ends; -1: nowhere, and the text is no JSON. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/** By recursion: the value is known not to be deep. */
function faultOf(value: unknown): string | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return firstFault(value);
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return 'prototype';
    if (key === 'constructor' && typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype'))
      return 'prototype';
    const fault = textFault(key) ?? faultOf(inner);
    if (fault) return fault;
  }
  return undefined;
}

function firstFault(values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const fault = faultOf(value);
    if (fault) return fault;
  }
  return undefined;
}
