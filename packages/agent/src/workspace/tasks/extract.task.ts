import { constants, inflateSync } from 'node:zlib';
import { pdfPages } from '@troupe/knowledge/pdf';
import { NoDocument, readDocument, Unreadable, written, type Document } from '@troupe/knowledge/read';
import { isPdf, MAX_LOOKED_INTO, pictureType, textOf } from '../kinds.ts';
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

export async function run({ root, file, most }: { root: string; file: string; most: number }): Promise<Extract> {
  const bytes = await createWorkspaceFiles(root).readBytes(file, MAX_LOOKED_INTO);
  const picture = pictureType(bytes);
  if (picture !== undefined) return { kind: 'picture', mime: picture, bytes: bytes.length };
  if (isPdf(bytes)) return { kind: 'pdf', mime: 'application/pdf', bytes: bytes.length, ...ofPdf(bytes, most) };
  const text = textOf(bytes);
  const ending = MADE_BY_PROGRAMS.exec(file)?.[0];
  if (text !== undefined && ending === undefined)
    return { kind: 'text', mime: 'text/plain', bytes: bytes.length, ...within(text, most) };
  // What it is its bytes say; among letters alone its name counts.
  return ofDocument(bytes, text === undefined ? '' : (ending ?? ''), most);
}

/** Letters that are written by programs for programs: what a person reads in them is something else. */
const MADE_BY_PROGRAMS = /\.(?:html?|xhtml|eml)$/i;
const OFFICE = 'application/vnd.openxmlformats-officedocument';
const MIMES: Partial<Record<Document['kind'], string>> = {
  docx: `${OFFICE}.wordprocessingml.document`,
  xlsx: `${OFFICE}.spreadsheetml.sheet`,
  pptx: `${OFFICE}.presentationml.presentation`,
  html: 'text/html',
  email: 'message/rfc822',
  csv: 'text/csv',
  markdown: 'text/markdown',
};

function within(text: string, most: number, more = false): Pick<Extract, 'text' | 'cut'> {
  const cut = more || text.length > most;
  return { text: text.slice(0, most), ...(cut && { cut }) };
}

/** By the readers of knowledge. */
function ofDocument(bytes: Buffer, name: string, most: number): Extract {
  const about = { kind: 'other' as const, mime: 'application/octet-stream', bytes: bytes.length };
  try {
    const { kind, reading } = readDocument(bytes, name);
    const { text, more } = written(reading.blocks, most);
    const isOffice = kind === 'docx' || kind === 'xlsx' || kind === 'pptx';
    return {
      kind: isOffice ? 'other' : 'text',
      mime: MIMES[kind] ?? 'text/plain',
      bytes: bytes.length,
      ...(text === '' ? { note: 'There is no text in it.' } : within(text, most, more)),
      ...(text !== '' && reading.notes.length > 0 && { note: reading.notes.join(' ') }),
    };
  } catch (error) {
    // A file that has no words is no document that went wrong.
    if (error instanceof NoDocument) return about;
    if (error instanceof Unreadable) return { ...about, note: error.message };
    throw error;
  }
}

function ofPdf(bytes: Buffer, most: number): Pick<Extract, 'text' | 'cut' | 'note'> {
  const { pages, more, note } = pagesOf(bytes, most);
  if (note !== undefined) return { note };
  const text = pages.filter(Boolean).join('\n\n');
  return within(text, most, more);
}

/** The words of a PDF page by page, about `most` characters; `note`: why there are none. */
export function pagesOf(bytes: Buffer, most: number): { pages: string[]; more: boolean; note?: string } {
  // One that is cut off gives what it has.
  const inflate = (packed: Buffer, room: number): Buffer =>
    inflateSync(packed, { maxOutputLength: Math.max(1, room), finishFlush: constants.Z_SYNC_FLUSH });
  try {
    const { pages, more, locked } = pdfPages(bytes, inflate, most);
    const said = pages.map((page) => page.toWellFormed());
    if (locked) return none('The PDF is locked by a password: its text cannot be read.');
    return said.some(Boolean)
      ? { pages: said, more }
      : none(`The PDF has ${pages.length} pages and no text: it may be scanned.`);
  } catch (error) {
    return none(`The PDF cannot be read: ${(error as Error).message.slice(0, 200)}`);
  }
}

const none = (note: string) => ({ pages: [], more: false, note });
