import { Blocks, type Reading } from './blocks.ts';
import { readHtml } from './html.ts';
import { readText } from './plain.ts';

/** A mail as it was sent: who, when, about what, and its words. What hangs on it is named. */

const MAX_DEPTH = 8;
const MAX_PARTS = 200;

interface Part {
  headers: Map<string, string>;
  body: string;
}

/** `text` has a character for each byte. */
function partOf(text: string): Part {
  const end = /\r?\n\r?\n/.exec(text);
  const head = text.slice(0, end?.index ?? text.length);
  const headers = new Map<string, string>();
  for (const line of head.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return { headers, body: end ? text.slice(end.index + end[0].length) : '' };
}

function decoderOf(charset: string): { decode: (bytes: Uint8Array) => string } {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder('utf-8');
  }
}

const quoted = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll(/=\r?\n/g, '')
      .replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

/** Words of a header that are not plain letters. */
const headerText = (value: string): string =>
  value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?([^?]+)\?([bq])\?([^?]*)\?=/gi, (_, charset: string, kind: string, said: string) => {
      const bytes = kind.toLowerCase() === 'b' ? Buffer.from(said, 'base64') : quoted(said.replaceAll('_', ' '));
      return decoderOf(charset).decode(bytes);
    });

const parameter = (value: string, name: 'boundary' | 'charset' | 'name' | 'filename'): string | undefined => {
  const found = PARAMETERS[name].exec(value);
  return found?.[1] ?? found?.[2];
};
const PARAMETERS = {
  boundary: /boundary="?([^";]+)"?/i,
  charset: /charset="?([^";\s]+)"?/i,
  name: /\bname="([^"]*)"|\bname=([^;\s]+)/i,
  filename: /\bfilename="([^"]*)"|\bfilename=([^;\s]+)/i,
};

function words({ headers, body }: Part): string {
  const how = (headers.get('content-transfer-encoding') ?? '').toLowerCase();
  const bytes =
    how === 'base64'
      ? Buffer.from(body, 'base64')
      : how === 'quoted-printable'
        ? quoted(body)
        : Buffer.from(body, 'latin1');
  return decoderOf(parameter(headers.get('content-type') ?? '', 'charset') ?? 'utf-8').decode(bytes);
}

interface Found {
  text?: string;
  html?: string;
  attached: string[];
  parts: number;
}

function walk(part: Part, found: Found, depth: number): void {
  found.parts += 1;
  if (depth > MAX_DEPTH || found.parts > MAX_PARTS) return;
  const type = part.headers.get('content-type') ?? 'text/plain';
  const boundary = parameter(type, 'boundary');
  if (/^multipart\//i.test(type) && boundary !== undefined) {
    for (const inner of part.body.split(`--${boundary}`).slice(1, MAX_PARTS))
      if (!inner.startsWith('--')) walk(partOf(inner.replace(/^\r?\n/, '')), found, depth + 1);
    return;
  }
  const placed = part.headers.get('content-disposition') ?? '';
  const name = parameter(placed, 'filename') ?? parameter(type, 'name');
  if (/^attachment/i.test(placed) || (name !== undefined && !/^text\//i.test(type)))
    found.attached.push(headerText(name ?? 'a file'));
  else if (/^text\/html/i.test(type)) found.html ??= words(part);
  else if (/^text\//i.test(type)) found.text ??= words(part);
}

export function readEmail(bytes: Buffer): Reading {
  const mail = partOf(bytes.toString('latin1'));
  const found: Found = { attached: [], parts: 0 };
  walk(mail, found, 0);
  const blocks = new Blocks();
  const said = (name: string): string =>
    headerText(Buffer.from(mail.headers.get(name) ?? '', 'latin1').toString('utf8'));
  const subject = said('subject');
  blocks.heading(1, subject);
  const about = ['from', 'to', 'cc', 'date'].flatMap((name) => {
    const value = said(name);
    return value === '' ? [] : [`${name[0]!.toUpperCase()}${name.slice(1)}: ${value.slice(0, 1000)}`];
  });
  blocks.text(about.join('\n'));
  const body = found.text === undefined ? readHtml(found.html ?? '') : readText(found.text);
  for (const block of body.blocks) blocks.add(block);
  if (found.attached.length > 0) blocks.text(`Attached: ${found.attached.slice(0, 50).join(', ')}`);
  return blocks.done(subject, body.notes);
}
