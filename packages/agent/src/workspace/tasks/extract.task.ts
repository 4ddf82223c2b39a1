import { constants, inflateSync } from 'node:zlib';
import { pdfPages } from '@troupe/knowledge/pdf';
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
  if (text === undefined) return { kind: 'other', mime: 'application/octet-stream', bytes: bytes.length };
  const cut = text.length > most;
  return { kind: 'text', mime: 'text/plain', bytes: bytes.length, text: text.slice(0, most), ...(cut && { cut }) };
}

function ofPdf(bytes: Buffer, most: number): Pick<Extract, 'text' | 'cut' | 'note'> {
  const { pages, more, note } = pagesOf(bytes, most);
  if (note !== undefined) return { note };
  const text = pages.filter(Boolean).join('\n\n');
  const cut = more || text.length > most;
  return { text: text.slice(0, most), ...(cut && { cut: true as const }) };
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
