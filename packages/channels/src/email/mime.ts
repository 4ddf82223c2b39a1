/** A mail as it comes, read with bounds: linear in its size, however it is nested, folded or broken. */

interface MailFile {
  name: string;
  bytes: Buffer;
}

export interface Mail {
  /** Lower-case names; the first of a name counts. */
  headers: ReadonlyMap<string, string>;
  from: string;
  subject: string;
  text: string;
  files: MailFile[];
}

const MOST_HEADER = 128 * 1024;
/** Of a part's, of which there are many. */
const MOST_PART_HEADER = 16 * 1024;
const MOST_SUBJECT = 4000;
const MOST_DEPTH = 8;
const MOST_PARTS = 100;
/** Of all parts together. */
const MOST_TEXT = 400_000;
/** A byte takes three where it is quoted; what is left out of lines takes more. */
const MOST_QUOTED = 4;

type Headers = Mail['headers'];

interface Entity {
  headers: Headers;
  body: Buffer;
}

/** One whose headers do not end within so many bytes has no body. */
function split(raw: Buffer, most: number): Entity {
  const first = raw.subarray(0, most);
  const [crlf, lf] = [first.indexOf('\r\n\r\n'), first.indexOf('\n\n')];
  const isCrlf = crlf >= 0 && (lf < 0 || crlf < lf);
  const end = isCrlf ? crlf : lf;
  const head = first.subarray(0, end < 0 ? first.length : end).toString('utf8');
  const body = end < 0 ? Buffer.alloc(0) : raw.subarray(end + (isCrlf ? 4 : 2));
  const headers = new Map<string, string>();
  let name = '';
  for (const line of head.split(/\r?\n/)) {
    if (/^[ \t]/.test(line)) {
      if (name !== '') headers.set(name, `${headers.get(name)} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(':');
    const found = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    // A name that comes again, and what is folded below it, does not count, but for what servers say of the mail: each says its own.
    const isAgain = headers.has(found);
    name = found === '' || (isAgain && found !== 'authentication-results') ? '' : found;
    // Two senders are none: each reader would see another.
    if (found === 'from' && name === '') headers.set('from', '');
    if (name !== '') headers.set(name, `${isAgain ? `${headers.get(name)}; ` : ''}${line.slice(colon + 1).trim()}`);
  }
  return { headers, body };
}

function decoder(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

const [LF, CR, EQUALS] = [10, 13, 61];
const NO_DIGIT = 255;
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const sign = String.fromCharCode(byte);
  return /[0-9A-Fa-f]/.test(sign) ? Number.parseInt(sign, 16) : NO_DIGIT;
});

/** Byte by byte: a mail of millions of quoted ones is as soon read as any other of its size. */
function fromQuoted(text: Buffer): Buffer {
  const said = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    const next = byte === EQUALS && at + 1 < text.length ? text[at + 1]! : 0;
    const after = next !== 0 && at + 2 < text.length ? text[at + 2]! : 0;
    const isEnd = next === LF || (next === CR && after === LF);
    const isQuoted = next !== 0 && DIGITS[next] !== NO_DIGIT && DIGITS[after] !== NO_DIGIT;
    if (!isEnd) said[length++] = isQuoted ? DIGITS[next]! * 16 + DIGITS[after]! : byte;
    if (isQuoted || isEnd) at += next === LF ? 1 : 2;
  }
  return said.subarray(0, length);
}

/** =?utf-8?B?…?= and its kind. Between two of them, spaces do not count. */
function decodeWords(text: string): string {
  return text
    .replaceAll(/\?=[ \t]+=\?/g, '?==?')
    .replaceAll(/=\?([^?\s]{1,40})\?([bq])\?([^?]{0,1000})\?=/gi, (_, charset: string, way: string, said: string) => {
      const bytes =
        way.toLowerCase() === 'b'
          ? Buffer.from(said, 'base64')
          : fromQuoted(Buffer.from(said.replaceAll('_', ' '), 'latin1'));
      return decoder(charset.split('*')[0] ?? '').decode(bytes);
    });
}

/** `text/plain; charset="utf-8"`: the value, and what stands behind it. */
function parsed(value: string): { value: string; of: (name: string) => string } {
  const [first = '', ...rest] = value.slice(0, 4000).split(';');
  const pairs = rest.map((one) => {
    const at = one.indexOf('=');
    return [
      one.slice(0, Math.max(at, 0)).trim().toLowerCase(),
      one
        .slice(at + 1)
        .trim()
        .replaceAll(/^"|"$/g, ''),
    ] as const;
  });
  const of = (name: string): string => {
    const plain = pairs.find(([key]) => key === name)?.[1];
    if (plain !== undefined) return decodeWords(plain);
    const encoded =
      pairs
        .find(([key]) => key === `${name}*`)?.[1]
        ?.split("'")
        .at(-1) ?? '';
    return percentDecoded(encoded);
  };
  return { value: first.trim().toLowerCase(), of };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address in a header such as `Ann <ann@example.com>`; empty: there is none, or more than one. */
function addressIn(header: string): string {
  const text = header.slice(0, 2000).replaceAll(/"[^"]*"/g, '');
  if (text.includes(',')) return '';
  const open = text.lastIndexOf('<');
  const close = text.indexOf('>', open);
  const inner = (open >= 0 && close > open ? text.slice(open + 1, close) : text).trim();
  return isAddress(inner) ? inner.toLowerCase() : '';
}

export const isAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s<>()[\]\\,;:@"\0]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i.test(text);

/** What is between tags, with line ends where blocks end. */
function textOfHtml(html: string): string {
  const said: string[] = [];
  const small = html.toLowerCase();
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    said.push(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    const close = html.indexOf('>', open);
    if (close < 0) break;
    const tag = /^<\/?([a-z0-9]+)/i.exec(html.slice(open, open + 20))?.[1]?.toLowerCase() ?? '';
    at = close + 1;
    if (tag === 'style' || tag === 'script') {
      const end = small.indexOf(`</${tag}`, at);
      at = end < 0 ? html.length : end;
      if (end >= 0) at = Math.max(html.indexOf('>', end) + 1, end + 1);
    }
    if (/^(?:br|p|div|tr|li|h[1-6]|blockquote)$/.test(tag)) said.push('\n');
  }
  const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" };
  return said
    .join('')
    .replaceAll(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function decodedBody(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
  if (encoding === 'quoted-printable') return fromQuoted(body);
  return body;
}

interface Found {
  plain: string[];
  html: string[];
  files: MailFile[];
  parts: number;
  /** Bytes of text that are still taken. */
  room: number;
}

/** The parts between lines with the boundary. */
function* partsOf(body: Buffer, boundary: string): Generator<Buffer> {
  const mark = Buffer.from(`--${boundary}`);
  let from = -1;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
    if (at > 0 && body[at - 1] !== 10) continue;
    if (from >= 0) yield body.subarray(from, Math.max(from, at - (body[at - 2] === 13 ? 2 : 1)));
    const line = body.indexOf(10, at);
    if (line < 0 || body.subarray(at + mark.length, at + mark.length + 2).toString() === '--') return;
    from = line + 1;
  }
  if (from >= 0) yield body.subarray(from);
}

function walk({ headers, body }: Entity, found: Found, depth: number): void {
  found.parts += 1;
  if (depth > MOST_DEPTH) return;
  const type = parsed(headers.get('content-type') ?? 'text/plain');
  const boundary = type.of('boundary');
  if (type.value.startsWith('multipart/') && boundary !== '') {
    for (const part of partsOf(body, boundary)) {
      if (found.parts >= MOST_PARTS) return;
      walk(split(part, MOST_PART_HEADER), found, depth + 1);
    }
    return;
  }
  const disposition = parsed(headers.get('content-disposition') ?? '');
  const name = disposition.of('filename') || type.of('name');
  const encoding = (headers.get('content-transfer-encoding') ?? '').trim().toLowerCase();
  const isText = type.value === 'text/plain' || type.value === 'text/html';
  if (disposition.value === 'attachment' || name !== '' || !isText) {
    const ending =
      type.value === 'message/rfc822' ? 'eml' : (type.value.split('/')[1] ?? 'bin').replaceAll(/[^a-z0-9]/g, '');
    found.files.push({ name: name || `part-${found.parts}.${ending}`, bytes: decodedBody(body, encoding) });
    return;
  }
  const bytes = decodedBody(body.subarray(0, found.room * MOST_QUOTED), encoding).subarray(0, found.room);
  found.room -= bytes.length;
  const text = decoder(type.of('charset') || 'utf-8').decode(bytes);
  found[type.value === 'text/html' ? 'html' : 'plain'].push(text);
}

export function readMail(raw: Buffer): Mail {
  const root = split(raw, MOST_HEADER);
  const { headers } = root;
  const found: Found = { plain: [], html: [], files: [], parts: 0, room: MOST_TEXT };
  walk(root, found, 0);
  const plain = found.plain.join('\n').trim();
  return {
    headers,
    from: addressIn(headers.get('from') ?? ''),
    subject: decodeWords((headers.get('subject') ?? '').slice(0, MOST_SUBJECT)).slice(0, 500),
    text: (plain === '' ? textOfHtml(found.html.join('\n')) : plain).replaceAll('\r\n', '\n'),
    files: found.files,
  };
}
