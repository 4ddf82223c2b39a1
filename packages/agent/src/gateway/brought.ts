import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Part } from '@troupe/ai';
import { FILE_BYTES, MOST_ATTACHMENTS, TOO_MANY_ATTACHMENTS, UPLOADS } from '@troupe/contract';
import { AppError } from '@troupe/kernel';
import type { Attachment } from '../session/events.ts';
import { attachmentsOf, plainName } from '../workspace/attachments.ts';
import { TooLarge, type Workspace } from '../workspace/workspace.ts';
import type { Exchange } from './exchange.ts';
import { fileError } from './files.ts';

/** Pictures and files that come inside of a request: they are put into the workspace, and go with the message. */

export interface Given {
  name: string;
  bytes: Buffer;
}

const ADDRESS = 'Pictures and files come inside of a request: an address is not fetched';
/** What stands before the bytes of a data URL is short. */
const HEAD_CHARACTERS = 300;
const DATA = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*;base64$/i;
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'application/pdf': '.pdf',
  'application/json': '.json',
  'text/plain': '.txt',
  'text/markdown': '.md',
  'text/csv': '.csv',
  'text/html': '.html',
};

interface Encoded {
  /** In base64; undefined: it is to be fetched somewhere. */
  data: string | undefined;
  mime: string | undefined;
  kind: 'picture' | 'file';
  /** Where its sender gave one. */
  name?: string | undefined;
}

export function decoded({ data, mime = '', kind, name }: Encoded): Given {
  if (data === undefined) throw new AppError(400, ADDRESS);
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length === 0) throw new AppError(400, 'A picture or file is empty');
  if (bytes.length > FILE_BYTES) throw new AppError(413, new TooLarge(FILE_BYTES).message);
  return { name: name ? plainName(name) : `${kind}${ENDINGS[mime.toLowerCase()] ?? ''}`, bytes };
}

function givenBy(url: string, kind: Encoded['kind'], name?: string): Given {
  const comma = url.indexOf(',');
  const head = DATA.exec(url.slice(0, Math.max(0, Math.min(comma, HEAD_CHARACTERS))));
  return decoded({ data: head ? url.slice(comma + 1) : undefined, mime: head?.[1], kind, name });
}

/** A part of a message that is no text; undefined: it is. */
export function givenIn(part: Part): Given | undefined {
  if (part.type === 'image_url') return givenBy(part.image_url.url, 'picture');
  return part.type === 'file' ? givenBy(part.file.file_data, 'file', part.file.filename) : undefined;
}

/** A conversation that is sent whole each time brings its files each time: under a name of their content they are kept once. */
async function place(workspace: Workspace, { name, bytes }: Given): Promise<string> {
  const path = `${UPLOADS}/${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}-${name}`;
  // Whatever is wrong with what is there is told where the file is put.
  const there = await workspace.readBytes(path, bytes.length).catch(() => undefined);
  if (there?.equals(bytes)) return path;
  return (await workspace.put(path, Readable.from([bytes]), { maxBytes: FILE_BYTES, fresh: true })).path;
}

/** `earlier` of the conversation, as many of the newest as there is room for. */
export async function bring(
  { agent }: Pick<Exchange, 'agent'>,
  given: readonly Given[],
  earlier: readonly Given[] = [],
): Promise<Attachment[]> {
  if (given.length > MOST_ATTACHMENTS) throw new AppError(400, TOO_MANY_ATTACHMENTS);
  const room = MOST_ATTACHMENTS - given.length;
  const all = [...(room > 0 ? earlier.slice(-room) : []), ...given];
  if (all.length === 0) return [];
  const workspace = await agent.workspace();
  const paths: string[] = [];
  for (const one of all)
    paths.push(
      await place(workspace, one).catch((error: unknown) => {
        throw fileError(error, one.name);
      }),
    );
  return attachmentsOf(workspace, paths, (error, path) => {
    throw fileError(error, path);
  });
}
