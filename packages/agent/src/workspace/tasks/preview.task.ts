import { ArchiveError, entriesOf } from '@troupe/kernel/archive';
import { isPdf, MAX_LOOKED_INTO, pictureType, textOf } from '../kinds.ts';
import { createWorkspaceFiles } from '../workspace-files.ts';
import { pagesOf } from './extract.task.ts';

/** What a person can see of a file without opening it: the words of a PDF, the names in an archive. */
export interface Preview {
  kind: 'pdf' | 'archive' | 'picture' | 'text' | 'other';
  bytes: number;
  pages?: string[];
  entries?: { path: string; kind: 'file' | 'folder' | 'link' | 'other'; bytes: number }[];
  /** Of entries, with those that are not told. */
  total?: number;
  more: boolean;
  note?: string;
}

const MAX_CHARACTERS = 200_000;
const MAX_ENTRIES = 2000;
/** Of a name in an archive, which may be as long as the archive likes. */
const MAX_PATH = 500;

export async function run({ root, file }: { root: string; file: string }): Promise<Preview> {
  const bytes = await createWorkspaceFiles(root).readBytes(file, MAX_LOOKED_INTO);
  const about = { bytes: bytes.length, more: false };
  if (pictureType(bytes) !== undefined) return { kind: 'picture', ...about };
  if (isPdf(bytes)) return { kind: 'pdf', ...about, ...ofPdf(bytes) };
  const archive = ofArchive(bytes);
  if (archive) return { kind: 'archive', ...about, ...archive };
  return { kind: textOf(bytes) === undefined ? 'other' : 'text', ...about };
}

function ofPdf(bytes: Buffer): Pick<Preview, 'pages' | 'more' | 'note'> {
  const { pages, more, note } = pagesOf(bytes, MAX_CHARACTERS);
  if (note !== undefined) return { note, more };
  let room = MAX_CHARACTERS;
  let isCut = false;
  const shown = pages.map((page) => {
    const part = page.slice(0, Math.max(0, room)).toWellFormed();
    room -= page.length;
    isCut ||= part.length < page.length;
    return part;
  });
  return { pages: shown, more: more || isCut };
}

/** Undefined: it is none. */
function ofArchive(bytes: Buffer): Pick<Preview, 'entries' | 'total' | 'more' | 'note'> | undefined {
  try {
    const entries = entriesOf(bytes);
    return (
      entries && {
        entries: entries
          .slice(0, MAX_ENTRIES)
          .map(({ path, kind, bytes: size }) => ({ path: path.slice(0, MAX_PATH).toWellFormed(), kind, bytes: size })),
        total: entries.length,
        more: entries.length > MAX_ENTRIES,
      }
    );
  } catch (error) {
    if (error instanceof ArchiveError) return { note: `${error.message}.`, more: false };
    throw error;
  }
}
