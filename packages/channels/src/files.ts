import { Readable } from 'node:stream';
import {
  attachmentsOf,
  plainName,
  TooLarge,
  whyNotKept,
  type Agent,
  type Attachment,
  type WaitingMessage,
} from '@troupe/agent';
import { FILE_BYTES, MOST_ATTACHMENTS } from '@troupe/contract';
import type { OutgoingFile, Service } from './channel.ts';
import { Undeliverable } from './errors.ts';

/** Files that come with a message and go with an answer. Both lie in the agent's workspace. */

/** After so many failures a message goes on without the file that cannot be fetched. */
const PATIENCE = 2;
const MOST_SENT = 5;
const MOST_SENT_BYTES = 20 * 1024 * 1024;

interface Brought {
  paths: string[];
  /** What the agent is told of those that could not be taken. */
  notes: string[];
}

/** Undefined: another try may help. */
const whyMissing = (error: unknown): string | undefined =>
  error instanceof Undeliverable ? error.message : whyNotKept(error);

export const missing = (name: string, why: string): string => `[attached file ${name} is not here: ${why}]`;

/** Brings the files of a message into the workspace. Throws where another try may help. */
export async function bringFiles(
  workspace: Agent['workspace'],
  fetchFile: Service['fetchFile'],
  { files = [], tries }: WaitingMessage,
): Promise<Brought> {
  const brought: Brought = { paths: [], notes: [] };
  for (const file of files.slice(0, MOST_ATTACHMENTS)) {
    const name = plainName(file.name);
    try {
      if ((file.bytes ?? 0) > FILE_BYTES) throw new TooLarge(FILE_BYTES);
      const source = Readable.from(await fetchFile(file), { objectMode: false }) as AsyncIterable<Buffer>;
      const put = await (await workspace()).put(`uploads/${name}`, source, { maxBytes: FILE_BYTES, fresh: true });
      brought.paths.push(put.path);
    } catch (error) {
      const why = whyMissing(error);
      if (why === undefined && tries < PATIENCE) throw error;
      brought.notes.push(missing(name, why ?? 'it could not be fetched'));
    }
  }
  if (files.length > MOST_ATTACHMENTS) brought.notes.push(`[only the first ${MOST_ATTACHMENTS} files were taken]`);
  return brought;
}

/** A file that went away meanwhile is told: its message is answered all the same. */
export const attachedTo = async (workspace: Agent['workspace'], paths: readonly string[] = []): Promise<Attachment[]> =>
  paths.length === 0
    ? []
    : attachmentsOf(await workspace(), paths, (error) => {
        const why = whyNotKept(error);
        if (why === undefined) throw error;
        return `It cannot be read: ${why}.`;
      });

const LINK = /\]\(<?([^()<>\s]{1,500})>?\)/g;

/** Files of the workspace that an answer links to: they go with it. What is not there is left out. */
export async function linkedFiles(workspace: Agent['workspace'], reply: string): Promise<OutgoingFile[]> {
  const links = [...reply.matchAll(LINK)].map(([, path = '']) => path);
  const paths = new Set(links.filter((path) => !/^(?:[a-z][\w+.-]*:|[/#?])/i.test(path)));
  const found: OutgoingFile[] = [];
  for (const path of paths) {
    if (found.length >= MOST_SENT) break;
    const bytes = await readFile(workspace, path);
    if (bytes) found.push({ name: plainName(path), bytes });
  }
  return found;
}

async function readFile(workspace: Agent['workspace'], path: string): Promise<Buffer | undefined> {
  try {
    return await (await workspace()).readBytes(decodeURI(path), MOST_SENT_BYTES);
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    const isNoFile =
      code !== undefined || ['WorkspaceError', 'OutsideWorkspace', 'URIError', 'AppError'].includes(name);
    if (isNoFile) return undefined;
    throw error;
  }
}
