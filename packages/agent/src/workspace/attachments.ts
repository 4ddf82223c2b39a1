import type { Attachment } from '../session/events.ts';
import type { Workspace } from './workspace.ts';

/** Characters of all files of a message that a model reads at once; the rest it can read with its tools. */
const ATTACHED_CHARACTERS = 100_000;

/** A name that is only a name. */
export function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const plain = last.replaceAll(/[^\p{L}\p{N}._ ()-]/gu, '_').replace(/^\.+/, '');
  return plain.length > 100 ? plain.slice(0, 60) + plain.slice(-40) : plain || 'file';
}

/** What files of the workspace are, and what can be read of them. */
export async function attachmentsOf(
  workspace: Pick<Workspace, 'extract'>,
  paths: readonly string[],
  whatWentWrong: (error: unknown, path: string) => unknown = (error) => error,
): Promise<Attachment[]> {
  let room = ATTACHED_CHARACTERS;
  const found: Attachment[] = [];
  for (const path of new Set(paths)) {
    const about = await workspace.extract(path, room).catch((error: unknown) => {
      throw whatWentWrong(error, path);
    });
    room -= about.text?.length ?? 0;
    found.push({ path, ...about });
  }
  return found;
}
