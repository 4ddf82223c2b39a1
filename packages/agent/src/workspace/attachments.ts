import { shortName } from '@troupe/contract';
import { AppError } from '@troupe/kernel';
import type { Attachment } from '../session/events.ts';
import type { Workspace } from './workspace.ts';

/** Characters of all files of a message that a model reads at once; the rest it can read with its tools. */
const ATTACHED_CHARACTERS = 100_000;

/** A name that is only a name. */
export function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  return shortName(last.replaceAll(/[^\p{L}\p{N}._ ()-]/gu, '_').replace(/^\.+/, '')) || 'file';
}

const CLOSED = 'the folder that it belongs into cannot be written to';
const BY_CODE: Readonly<Record<string, string>> = {
  ENOENT: 'it is no longer there',
  ENAMETOOLONG: 'its name is too long',
  ENOTDIR: CLOSED,
  EISDIR: CLOSED,
  ELOOP: CLOSED,
  EACCES: CLOSED,
  EPERM: CLOSED,
};

/** Why a file cannot be kept in a workspace or read there, in words; undefined: it may go well another time. */
export function whyNotKept(error: unknown): string | undefined {
  const { code = '', name, message } = error as NodeJS.ErrnoException;
  if (['TooLarge', 'WorkspaceError', 'OutsideWorkspace'].includes(name)) return message;
  return isTooMuch(error) ? message : BY_CODE[code];
}

/** It took a thread too much time or memory. */
const isTooMuch = (error: unknown): boolean => error instanceof AppError && error.status === 422;

/** `whatWentWrong`: throws, or says it in words that the agent is told instead of the file. */
export async function attachmentsOf(
  workspace: Pick<Workspace, 'extract' | 'open'>,
  paths: readonly string[],
  whatWentWrong: (error: unknown, path: string) => string,
): Promise<Attachment[]> {
  let room = ATTACHED_CHARACTERS;
  const found: Attachment[] = [];
  const unread = async (path: string, note: string): Promise<Attachment> => {
    const bytes = await workspace.open(path, async (file) => (await file.stat()).size).catch(() => 0);
    return { path, kind: 'other', mime: 'application/octet-stream', bytes, note };
  };
  for (const path of new Set(paths)) {
    try {
      const about = await workspace.extract(path, room);
      room -= about.text?.length ?? 0;
      found.push({ path, ...about });
    } catch (error) {
      const note = isTooMuch(error) ? 'The file takes too much time or memory to read.' : whatWentWrong(error, path);
      found.push(await unread(path, note));
    }
  }
  return found;
}
