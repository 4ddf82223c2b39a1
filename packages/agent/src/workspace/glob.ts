/**
 * File names by pattern: `*`, `?`, `[a-z]` within a name, `**` over folders, `{a,b}` for either, `\` before a character
 * that is meant itself. Names that begin with a dot are found only by a pattern that says so. A name costs at most its
 * length times that of the pattern, whatever the pattern is.
 */

export class BadPattern extends Error {
  override readonly name = 'BadPattern';
}

const MAX_ALTERNATIVES = 100;

type Piece = { kind: 'any' } | { kind: 'star' } | { kind: 'one'; fits: (char: string) => boolean };
/** Null: any number of folders. */
type Part = { pieces: Piece[]; dotted: boolean } | null;

/** Throws BadPattern. */
export function createGlob(pattern: string): (name: string) => boolean {
  const all = alternatives(pattern).map((one) => splitPath(one).map(partOf));
  return (name) => {
    const names = name.split('/').map((part) => Array.from(part));
    return all.some((parts) => matchParts(parts, names));
  };
}

function matchParts(parts: readonly Part[], names: readonly string[][]): boolean {
  let part = 0;
  let at = 0;
  // Only the last `**` has to be tried again: what an earlier one took does not matter any more.
  let retry: { part: number; at: number } | undefined;
  while (at < names.length) {
    const wanted = parts[part];
    if (wanted === null) {
      retry = { part: part + 1, at };
      part += 1;
    } else if (wanted !== undefined && matchName(wanted, names[at]!)) {
      part += 1;
      at += 1;
    } else if (retry !== undefined && names[retry.at]![0] !== '.') {
      retry.at += 1;
      ({ part, at } = retry);
    } else return false;
  }
  return parts.slice(part).every((left) => left === null);
}

function matchName({ pieces, dotted }: NonNullable<Part>, name: readonly string[]): boolean {
  if (name[0] === '.' && !dotted) return false;
  let piece = 0;
  let at = 0;
  let retry: { piece: number; at: number } | undefined;
  while (at < name.length) {
    const wanted = pieces[piece];
    if (wanted?.kind === 'star') {
      retry = { piece: piece + 1, at };
      piece += 1;
    } else if (wanted && (wanted.kind === 'any' || wanted.fits(name[at]!))) {
      piece += 1;
      at += 1;
    } else if (retry) {
      retry.at += 1;
      ({ piece, at } = retry);
    } else return false;
  }
  return pieces.slice(piece).every(({ kind }) => kind === 'star');
}

function partOf(text: string): Part {
  if (text === '**') return null;
  const chars = Array.from(text);
  const pieces: Piece[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at]!;
    if (char === '*') {
      if (pieces.at(-1)?.kind !== 'star') pieces.push({ kind: 'star' });
    } else if (char === '?') pieces.push({ kind: 'any' });
    else {
      const set = char === '[' ? setAt(chars, at) : undefined;
      if (set) {
        pieces.push({ kind: 'one', fits: set.fits });
        at = set.end;
      } else {
        const meant = char === '\\' ? (chars[++at] ?? '\\') : char;
        pieces.push({ kind: 'one', fits: (given) => given === meant });
      }
    }
  }
  return { pieces, dotted: chars[0] === '.' || (chars[0] === '\\' && chars[1] === '.') };
}

/** `[abc]`, `[a-z]`, `[!a]`; undefined when it does not end, and then it is a bracket. */
function setAt(chars: readonly string[], start: number): { fits: (char: string) => boolean; end: number } | undefined {
  let at = start + 1;
  const not = chars[at] === '!' || chars[at] === '^';
  if (not) at += 1;
  const ranges: [from: string, to: string][] = [];
  for (let first = true; at < chars.length; first = false) {
    if (chars[at] === ']' && !first) {
      return { end: at, fits: (char) => ranges.some(([from, to]) => from <= char && char <= to) !== not };
    }
    if (chars[at] === '\\') at += 1;
    const from = chars[at] ?? '\\';
    const isRange = chars[at + 1] === '-' && chars[at + 2] !== undefined && chars[at + 2] !== ']';
    ranges.push([from, isRange ? chars[at + 2]! : from]);
    at += isRange ? 3 : 1;
  }
  return undefined;
}

function splitPath(pattern: string): string[] {
  const parts = pattern.split('/').filter((part, index) => part !== '.' && (part !== '' || index === 0));
  // Two of `**` in a row are one.
  return parts.filter((part, index) => part !== '**' || parts[index - 1] !== '**');
}

/** The patterns that `{a,b}` stands for. */
function alternatives(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = firstBraces(next);
    if (!braces) done.push(next);
    else {
      const [before, after] = [next.slice(0, braces.start), next.slice(braces.end + 1)];
      for (const choice of braces.choices) open.push(before + choice + after);
    }
    if (done.length + open.length > MAX_ALTERNATIVES)
      throw new BadPattern(`The pattern stands for more than ${MAX_ALTERNATIVES} others. Use fewer {…}.`);
  }
  return done;
}

/** The first braces that have a comma of their own. */
function firstBraces(text: string): { start: number; end: number; choices: string[] } | undefined {
  const open: { start: number; commas: number[] }[] = [];
  let found: { start: number; end: number; commas: number[] } | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '{') open.push({ start: at, commas: [] });
    else if (char === ',') open.at(-1)?.commas.push(at);
    else if (char === '}') {
      const { start, commas } = open.pop() ?? { start: -1, commas: [] };
      // An outer one replaces the inner ones that it holds.
      if (commas.length > 0 && (!found || start < found.start)) found = { start, end: at, commas };
    }
  }
  if (!found) return undefined;
  const cuts = [found.start, ...found.commas, found.end];
  return { ...found, choices: cuts.slice(1).map((cut, index) => text.slice(cuts[index]! + 1, cut)) };
}
