import { constants, inflateSync } from 'node:zlib';
import { Blocks, MAX_TEXT, NoDocument, Unreadable, type DocumentKind, type Reading } from './blocks.ts';
import { readEmail } from './email.ts';
import { readHtml } from './html.ts';
import { officeKind, readDocx, readPptx, readXlsx } from './office.ts';
import { pdfPages } from './pdf/text.ts';
import { readCsv, readMarkdown, readText } from './plain.ts';

/** Reads a document by what its bytes are. A name or a type that says something else is refused in a sentence. */

const BY_ENDING: Readonly<Record<string, DocumentKind>> = {
  pdf: 'pdf',
  docx: 'docx',
  xlsx: 'xlsx',
  pptx: 'pptx',
  csv: 'csv',
  tsv: 'csv',
  eml: 'email',
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  md: 'markdown',
  markdown: 'markdown',
};
const CALLED: Readonly<Record<DocumentKind, string>> = {
  text: 'text',
  markdown: 'Markdown',
  html: 'a web page',
  pdf: 'a PDF',
  docx: 'a Word document',
  xlsx: 'an Excel sheet',
  pptx: 'a PowerPoint presentation',
  csv: 'a CSV table',
  email: 'an e-mail',
};
/** Kinds that are letters, whatever they mean: the name decides between them. */
const LETTERS: ReadonlySet<DocumentKind> = new Set(['text', 'markdown', 'html', 'csv', 'email']);

const OTHERS: readonly (readonly [sign: RegExp, what: string])[] = [
  [/^89504e47|^ffd8ff|^47494638|^52494646.{8}57454250|^424d/, 'a picture'],
  [/^504b0304|^504b0506/, 'an archive. Upload what is in it'],
  [/^1f8b|^377abcaf|^52617221/, 'an archive. Upload what is in it'],
  [/^7f454c46|^4d5a/, 'a program'],
  [/^494433|^fffb|^4f676753|^.{8}66747970/, 'sound or a film'],
];

const OLD = /^d0cf11e0a1b11ae1/;
const OLD_OFFICE =
  'This cannot be read: it is a document of an old office program, or one that is locked by a password. Save it as docx, xlsx or pptx.';

export { NoDocument, Unreadable } from './blocks.ts';
export { written } from './written.ts';

export interface Document {
  kind: DocumentKind;
  reading: Reading;
}

export function readDocument(bytes: Buffer, name: string, mime = ''): Document {
  if (bytes.length === 0) throw new Unreadable('The file is empty.');
  const wanted = BY_ENDING[/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''];
  const found = ofBytes(bytes) ?? ofLetters(bytes, wanted, mime);
  if (wanted !== undefined && wanted !== found.kind && !(LETTERS.has(wanted) && LETTERS.has(found.kind)))
    throw new Unreadable(`The name says ${CALLED[wanted]}, and the file is ${CALLED[found.kind]}.`);
  return found;
}

function ofBytes(bytes: Buffer): Document | undefined {
  if (bytes.subarray(0, 1024).includes('%PDF-')) return { kind: 'pdf', reading: ofPdf(bytes) };
  const first = bytes.subarray(0, 16).toString('hex');
  if (first.startsWith('504b0304')) {
    const office = officeKind(bytes);
    if (office?.kind === 'docx') return { kind: 'docx', reading: readDocx(office.parts) };
    if (office?.kind === 'xlsx') return { kind: 'xlsx', reading: readXlsx(office.parts) };
    if (office) return { kind: 'pptx', reading: readPptx(office.parts, office.names) };
  }
  const other = OTHERS.find(([sign]) => sign.test(first));
  if (OLD.test(first)) throw new Unreadable(OLD_OFFICE);
  if (other) throw new NoDocument(`This cannot be read: it is ${other[1]}.`);
  return undefined;
}

function ofLetters(bytes: Buffer, wanted: DocumentKind | undefined, mime: string): Document {
  const text = lettersOf(bytes, /charset="?([\w-]+)/i.exec(mime)?.[1]);
  const kind = wanted !== undefined && LETTERS.has(wanted) ? wanted : kindOfLetters(text, mime);
  const read = { text: readText, markdown: readMarkdown, html: readHtml, csv: readCsv };
  if (kind === 'email') return { kind, reading: readEmail(bytes) };
  return { kind, reading: read[kind as keyof typeof read](text) };
}

function kindOfLetters(text: string, mime: string): DocumentKind {
  const start = text.slice(0, 2000);
  if (/html/i.test(mime) || /^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b/i.test(start)) return 'html';
  if (/csv|tab-separated/i.test(mime)) return 'csv';
  if (/rfc822/i.test(mime) || /^(?:From|Received|Return-Path|Message-ID|MIME-Version|Delivered-To): /i.test(start))
    return 'email';
  return /markdown/i.test(mime) || /^#{1,6} \S/m.test(start) ? 'markdown' : 'text';
}

/** Signs that no text has, among the first of it: it is something else. */
function hasSigns(text: string): boolean {
  for (let at = 0; at < Math.min(text.length, 100_000); at += 1) {
    const code = text.charCodeAt(at);
    if (code < 9 || (code > 13 && code < 27)) return true;
  }
  return false;
}

function lettersOf(bytes: Buffer, charset: string | undefined): string {
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : undefined;
  for (const name of [utf16, 'utf-8', charset, 'windows-1252']) {
    if (name === undefined) continue;
    try {
      const text = new TextDecoder(name, { fatal: true }).decode(bytes);
      if (!hasSigns(text)) return text.toWellFormed();
    } catch {
      // Not written in these letters: the next are tried.
    }
  }
  throw new NoDocument('This cannot be read: it is neither text nor a kind of document that is known here.');
}

function ofPdf(bytes: Buffer): Reading {
  const inflate = (packed: Buffer, room: number): Buffer =>
    inflateSync(packed, { maxOutputLength: Math.max(1, room), finishFlush: constants.Z_SYNC_FLUSH });
  const { pages, locked, more } = pagesOf(bytes, inflate);
  if (locked) throw new Unreadable('The PDF is locked by a password: its text cannot be read.');
  const blocks = new Blocks();
  pages.forEach((page, index) => {
    blocks.add({ kind: 'place', place: `Page ${index + 1}` });
    for (const part of page.split('\n\n')) blocks.text(part);
  });
  if (!blocks.all.some(({ kind }) => kind === 'text'))
    throw new Unreadable(`The PDF has ${pages.length} pages and no text: it may be scanned.`);
  return blocks.done(undefined, more ? [`Only the first ${pages.length.toLocaleString('en')} pages were read.`] : []);
}

function pagesOf(bytes: Buffer, inflate: Parameters<typeof pdfPages>[1]) {
  try {
    return pdfPages(bytes, inflate, MAX_TEXT);
  } catch (error) {
    throw new Unreadable(`The PDF cannot be read: ${(error as Error).message.slice(0, 200)}`, { cause: error });
  }
}
