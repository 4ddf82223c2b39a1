/**
 * What stands inside a line: emphasis, code, links, pictures. One pass from left to right with a short stack of marks that
 * wait for their end; each span is moved at most once for each of them, so it takes time by the text's length alone.
 */

export type MarkdownSpan =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; spans: MarkdownSpan[] }
  /** `target`: an address of the web, or a path of the workspace. */
  | { kind: 'link'; spans: MarkdownSpan[]; target: string }
  | { kind: 'picture'; text: string; target: string };

/** Beyond so many parts the rest is plain: a page holds only so many elements. */
export const MOST_PARTS = 5000;
/** Marks in marks that wait for their end. */
const MOST_OPEN = 8;
/** Stars, bars and ticks in a row that mean something. */
const MOST_RUN = 3;

type Emphasis = '*' | '_' | '~';

/** A mark that waits for its end, with what came since. */
interface Open {
  mark: Emphasis | '[' | '![';
  count: number;
  spans: MarkdownSpan[];
}

interface Reader {
  text: string;
  at: number;
  /** From here on nothing is put anywhere yet. */
  from: number;
  open: Open[];
  done: MarkdownSpan[];
  /** By length of a run of ticks: up to where no such run is. */
  absent: number[];
  /** The end of an address that stands by itself. */
  bare: (from: number) => number;
  budget: { left: number };
}

/** They end on the line on which they begin. */
export function markdownSpans(text: string, budget = { left: MOST_PARTS }): MarkdownSpan[] {
  const bare = finder(text, (char) => URL_END.includes(char) || isSpace(char));
  const reader: Reader = { text, at: 0, from: 0, open: [], done: [], absent: [], bare, budget };
  while (reader.at < text.length && budget.left > 0) step(reader);
  reader.at = text.length;
  flush(reader);
  abandon(reader, 0);
  return reader.done;
}

/** The words alone. */
export const spanWords = (spans: readonly MarkdownSpan[]): string =>
  spans.map((span) => ('spans' in span ? spanWords(span.spans) : span.text)).join('');

export const isSpace = (char: string | undefined): boolean => char !== undefined && char.trim() === '';
const isWord = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
const isMark = (char: string | undefined): boolean => char !== undefined && /[!-/:-@[-`{-~]/.test(char);

function step(reader: Reader): void {
  const { text, at } = reader;
  switch (text[at]) {
    case '\n':
      flush(reader);
      abandon(reader, 0);
      break;
    case '\\':
      return escape(reader);
    case '`':
      return code(reader);
    case '*':
    case '_':
    case '~':
      return emphasis(reader, text[at] as Emphasis);
    case '!':
      if (text[at + 1] === '[') return begin(reader, '![', 2);
      break;
    case '[':
      return begin(reader, '[', 1);
    case ']':
      return bracket(reader);
    case '<':
      return angle(reader);
    case 'h':
      return bareLink(reader);
  }
  reader.at += 1;
}

const top = ({ open, done }: Reader): MarkdownSpan[] => open.at(-1)?.spans ?? done;

function put(spans: MarkdownSpan[], more: MarkdownSpan): void {
  const last = spans.at(-1);
  if (more.kind === 'text' && last?.kind === 'text') last.text += more.text;
  else if (more.kind !== 'text' || more.text !== '') spans.push(more);
}

/** Text that was passed belongs to the mark that is open. */
function flush(reader: Reader): void {
  const { text, from, at } = reader;
  put(top(reader), { kind: 'text', text: text.slice(from, at) });
  reader.from = at;
}

/** Puts a part where it belongs and goes on behind it. */
function take(reader: Reader, span: MarkdownSpan, end: number): void {
  flush(reader);
  put(top(reader), span);
  reader.at = reader.from = end;
  if (span.kind !== 'text') reader.budget.left -= 1;
}

/** Marks from a place on end nowhere: they are text, and so is what they would have been around. */
function abandon(reader: Reader, from: number): void {
  while (reader.open.length > from) {
    const { mark, count, spans } = reader.open.pop()!;
    const below = top(reader);
    put(below, { kind: 'text', text: mark.repeat(count) });
    for (const span of spans) put(below, span);
  }
}

function begin(reader: Reader, mark: Open['mark'], length: number): void {
  flush(reader);
  reader.at = reader.from = reader.at + length;
  wait(reader, mark, mark === '[' || mark === '![' ? 1 : length);
}

/** The same mark that waits already waits in vain. */
function wait(reader: Reader, mark: Open['mark'], count: number): void {
  const { open } = reader;
  const same = open.findLastIndex((one) => one.mark === mark && one.count === count);
  if (same >= 0) abandon(reader, same);
  if (open.length < MOST_OPEN) open.push({ mark, count, spans: [] });
  else put(top(reader), { kind: 'text', text: mark.repeat(count) });
}

function escape(reader: Reader): void {
  const next = reader.text[reader.at + 1];
  if (isMark(next)) take(reader, { kind: 'text', text: next! }, reader.at + 2);
  else if (next === '\n') take(reader, { kind: 'text', text: '' }, reader.at + 1);
  else reader.at += 1;
}

export function runAt(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

function code(reader: Reader): void {
  const { text, at } = reader;
  const length = runAt(text, at);
  const end = closingTicks(reader, at + length, length);
  if (end < 0) {
    reader.at += length;
    return;
  }
  const inner = text.slice(at + length, end);
  const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
  take(reader, { kind: 'code', text: isPadded ? inner.slice(1, -1) : inner }, end + length);
}

/** Where as many ticks stand again on this line; what is not there is looked for once. */
export function closingTicks({ text, absent }: Pick<Reader, 'text' | 'absent'>, from: number, length: number): number {
  if (length > MOST_RUN || (absent[length] ?? -1) >= from) return -1;
  let at = from;
  while (at < text.length && text[at] !== '\n') {
    if (text[at] !== '`') at += 1;
    else {
      const found = runAt(text, at);
      if (found === length) return at;
      at += found;
    }
  }
  absent[length] = at;
  return -1;
}

function emphasis(reader: Reader, mark: Emphasis): void {
  const { text, at } = reader;
  const length = runAt(text, at);
  if (length > MOST_RUN || (mark === '~' && length !== 2)) {
    reader.at += length;
    return;
  }
  const [before, behind] = [text[at - 1], text[at + length]];
  const opens = behind !== undefined && !isSpace(behind) && (mark !== '_' || !isWord(before));
  const closes = before !== undefined && !isSpace(before) && (mark !== '_' || !isWord(behind));
  flush(reader);
  reader.at = reader.from = at + length;
  let left = length;
  while (left > 0) {
    const wrapped = end(reader, mark, left, closes, opens);
    if (wrapped === 0) break;
    left -= wrapped;
  }
  if (left === 0) return;
  if (opens) wait(reader, mark, left);
  else put(top(reader), { kind: 'text', text: mark.repeat(left) });
}

/** Ends emphasis that is open; answers how many marks that took. */
function end(reader: Reader, mark: Emphasis, left: number, closes: boolean, opens: boolean): number {
  const { open } = reader;
  const exact = open.findLastIndex((one) => one.mark === mark && one.count === left);
  // A space before the end is often a slip: **Note: **text
  if (!closes && !(opens && exact >= 0 && left === 2)) return 0;
  const isPart = ({ count }: Open): boolean => count === MOST_RUN || left === MOST_RUN;
  const index = exact >= 0 ? exact : open.findLastIndex((one) => one.mark === mark && isPart(one));
  const found = open[index];
  if (!found) return 0;
  abandon(reader, index + 1);
  if (found.spans.length === 0) return 0;
  const length = Math.min(left, found.count);
  found.spans = [wrap(mark, length, found.spans)];
  found.count -= length;
  reader.budget.left -= 1;
  if (found.count === 0) {
    open.pop();
    for (const span of found.spans) put(top(reader), span);
  }
  return length;
}

function wrap(mark: Emphasis, length: number, spans: MarkdownSpan[]): MarkdownSpan {
  if (mark === '~') return { kind: 'del', spans };
  if (length === 1) return { kind: 'em', spans };
  const strong: MarkdownSpan = { kind: 'strong', spans };
  return length === 2 ? strong : { kind: 'em', spans: [strong] };
}

const schemeAt = (text: string, at: number): number =>
  text.startsWith('https://', at) ? 8 : text.startsWith('http://', at) ? 7 : 0;

/** Of the web, or a path of the workspace: with no scheme, and with something that makes it a file's. */
function isTarget(target: string): boolean {
  const scheme = schemeAt(target, 0);
  if (scheme > 0) return target.length > scheme;
  return /^[^:?#\\/][^:\\]*$|^\/[^/:\\][^:\\]*$/.test(target) && /[./]/.test(target);
}

function bracket(reader: Reader): void {
  const { text, at, open } = reader;
  const index = open.findLastIndex(({ mark }) => mark === '[' || mark === '![');
  const found = open[index];
  if (!found) {
    reader.at += 1;
    return;
  }
  flush(reader);
  const target = text[at + 1] === '(' ? targetAt(text, at + 2) : undefined;
  if (!target || (found.mark === '[' && found.spans.length === 0)) {
    abandon(reader, index);
    reader.at += 1;
    return;
  }
  abandon(reader, index + 1);
  open.pop();
  const { spans, mark } = found;
  const span: MarkdownSpan =
    mark === '['
      ? { kind: 'link', spans: unlinked(spans), target: target.text }
      : { kind: 'picture', text: spanWords(spans), target: target.text };
  take(reader, span, target.end);
}

/** A link in a link is the outer one. */
const unlinked = (spans: MarkdownSpan[]): MarkdownSpan[] =>
  spans.flatMap((span): MarkdownSpan[] => {
    if (span.kind === 'link') return span.spans;
    return 'spans' in span ? [{ ...span, spans: unlinked(span.spans) }] : [span];
  });

/** Up to its bracket, with brackets in pairs in it. Never beyond another link's beginning: each character is read once. */
function targetAt(text: string, start: number): { text: string; end: number } | undefined {
  let depth = 0;
  let at = start;
  for (; at < text.length && !isSpace(text[at]); at += 1) {
    const char = text[at]!;
    if (char === '[' || char === '<' || char === '>') return undefined;
    if (char === '(') depth += 1;
    if (char === ')' && (depth -= 1) < 0) break;
  }
  const target = text.slice(start, at);
  const last = text[at] === ')' ? at : titleEnd(text, at);
  return last < 0 || !isTarget(target) ? undefined : { text: target, end: last + 1 };
}

/** Where a title in quotes behind an address, and the bracket with it, ends. */
function titleEnd(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  const quote = text[at];
  if (quote !== '"' && quote !== "'") return -1;
  for (at += 1; at < text.length && text[at] !== '\n' && text[at] !== '['; at += 1)
    if (text[at] === quote && text[at + 1] === ')') return at + 1;
  return -1;
}

function angle(reader: Reader): void {
  const { text, at } = reader;
  const broken = /^<br ?\/?>/i.exec(text.slice(at, at + 6));
  if (broken) return take(reader, { kind: 'text', text: '\n' }, at + broken[0].length);
  const scheme = schemeAt(text, at + 1);
  const last = scheme > 0 ? reader.bare(at + 1) : 0;
  if (last <= at + 1 + scheme || text[last] !== '>') reader.at += 1;
  else take(reader, linkTo(text.slice(at + 1, last)), last + 1);
}

const linkTo = (target: string): MarkdownSpan => ({ kind: 'link', spans: [{ kind: 'text', text: target }], target });

const URL_END = ' <>()]*`"';
/** What ends a sentence, or a mark, is not part of the address. */
const TRAILS = ".,;:!?_~'";

function bareLink(reader: Reader): void {
  const { text, at } = reader;
  const scheme = schemeAt(text, at);
  let last = scheme > 0 ? reader.bare(at) : 0;
  while (last > at + scheme && TRAILS.includes(text[last - 1]!)) last -= 1;
  if (scheme === 0 || last <= at + scheme + 1) reader.at += 1;
  else take(reader, linkTo(text.slice(at, last)), last);
}

/** Finds the next character of a kind. Asked from left to right it looks at each character once. */
function finder(text: string, wanted: (char: string) => boolean): (from: number) => number {
  let from = 0;
  let found = -1;
  return (start) => {
    if (start >= from && start <= found) return found;
    from = start;
    found = start;
    while (found < text.length && !wanted(text[found]!)) found += 1;
    return found;
  };
}
