/** Light colours for code: comments, texts, numbers and the words that most languages share. Each character is read once. */

export interface CodePart {
  kind: 'plain' | 'comment' | 'text' | 'number' | 'word';
  text: string;
}

const WORDS = new Set(
  `abstract and as async await break case catch class const continue def default defer delete do elif else end enum export extends
  false final finally fn for from func function go if impl import in interface is lambda let match module mut new nil none null not
  of or package pass private public pub raise return select self static struct super switch then this throw trait true try type
  undefined unless until use var void when where while with yield select from where insert update create table and`.split(
    /\s+/,
  ),
);
/** Beyond this it is one piece: a page holds only so many elements. */
const MOST_PARTS = 3000;
const HASH_COMMENTS = new Set(['sh', 'bash', 'py', 'python', 'yaml', 'yml', 'toml', 'rb', 'ruby', 'dockerfile', 'ini']);

const isWord = (char: string | undefined): boolean => char !== undefined && /[\w$]/.test(char);
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9';

/** Where the piece that begins here ends, and what it is. */
function pieceAt(text: string, at: number, hash: boolean): { kind: CodePart['kind']; end: number } {
  const char = text[at]!;
  const lineEnd = (): number => {
    const found = text.indexOf('\n', at);
    return found < 0 ? text.length : found;
  };
  if (text.startsWith('//', at) || text.startsWith('-- ', at) || (hash && char === '#'))
    return { kind: 'comment', end: lineEnd() };
  if (text.startsWith('/*', at)) {
    const found = text.indexOf('*/', at + 2);
    return { kind: 'comment', end: found < 0 ? text.length : found + 2 };
  }
  if (char === '"' || char === "'" || char === '`') {
    const stops = char === '`' ? char : `${char}\n`;
    let end = at + 1;
    while (end < text.length && !stops.includes(text[end]!)) end += text[end] === '\\' ? 2 : 1;
    return { kind: 'text', end: Math.min(text.length, end + 1) };
  }
  if (isWord(char)) {
    let end = at + 1;
    while (isWord(text[end])) end += 1;
    const word = text.slice(at, end);
    return { kind: isDigit(char) ? 'number' : WORDS.has(word) ? 'word' : 'plain', end };
  }
  return { kind: 'plain', end: at + 1 };
}

export function colourCode(text: string, language: string): CodePart[] {
  const hash = HASH_COMMENTS.has(language.toLowerCase());
  const parts: CodePart[] = [];
  let at = 0;
  while (at < text.length && parts.length < MOST_PARTS) {
    const { kind, end } = pieceAt(text, at, hash);
    const last = parts.at(-1);
    if (kind === 'plain' && last?.kind === 'plain') last.text += text.slice(at, end);
    else parts.push({ kind, text: text.slice(at, end) });
    at = end;
  }
  return at < text.length ? [...parts, { kind: 'plain', text: text.slice(at) }] : parts;
}
