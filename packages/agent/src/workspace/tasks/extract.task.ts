import { constants, inflateSync } from 'node:zlib';
import { pdfPages } from '@troupe/knowledge/pdf';
import { createWorkspaceFiles } from '../workspace-files.ts';

/** What a file is, by its bytes and not by its name, and the text that a model can read of it. */
export interface Extract {
  kind: 'picture' | 'pdf' | 'text' | 'other';
  mime: string;
  bytes: number;
  text?: string;
  /** There is more text than this. */
  cut?: true;
  /** Why there is no text, or not all of it. */
  note?: string;
}

const MAX_BYTES = 25 * 1024 * 1024;
const SNIFFED = 8192;

/** By their first bytes, in hexadecimal digits. */
const PICTURES: [mime: string, sign: RegExp][] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
];

export async function run({ root, file, most }: { root: string; file: string; most: number }): Promise<Extract> {
  const bytes = await createWorkspaceFiles(root).readBytes(file, MAX_BYTES);
  const head = bytes.subarray(0, SNIFFED).toString('latin1');
  const first = bytes.subarray(0, 16).toString('hex');
  const picture = PICTURES.find(([, sign]) => sign.test(first));
  if (picture) return { kind: 'picture', mime: picture[0], bytes: bytes.length };
  if (head.slice(0, 1024).includes('%PDF-'))
    return { kind: 'pdf', mime: 'application/pdf', bytes: bytes.length, ...ofPdf(bytes, most) };
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'other', mime: 'application/octet-stream', bytes: bytes.length };
  const cut = text.length > most;
  return { kind: 'text', mime: 'text/plain', bytes: bytes.length, text: text.slice(0, most), ...(cut && { cut }) };
}

function ofPdf(bytes: Buffer, most: number): Pick<Extract, 'text' | 'cut' | 'note'> {
  // One that is cut off gives what it has.
  const inflate = (packed: Buffer, room: number): Buffer =>
    inflateSync(packed, { maxOutputLength: Math.max(1, room), finishFlush: constants.Z_SYNC_FLUSH });
  try {
    const { pages, more, locked } = pdfPages(bytes, inflate, most);
    const text = pages.filter(Boolean).join('\n\n');
    if (locked) return { note: 'The PDF is locked by a password: its text cannot be read.' };
    if (text === '') return { note: `The PDF has ${pages.length} pages and no text: it may be scanned.` };
    const cut = more || text.length > most;
    return { text: text.slice(0, most), ...(cut && { cut: true as const }) };
  } catch (error) {
    return { note: `The PDF cannot be read: ${(error as Error).message.slice(0, 200)}` };
  }
}

/** Undefined: these are no letters. */
function textOf(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
