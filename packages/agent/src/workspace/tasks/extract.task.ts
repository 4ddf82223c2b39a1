import { isPdf, MAX_LOOKED_INTO, pagesOf, pictureType, textOf } from '../kinds.ts';
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
