import { gateway, type backend, type Client, type TypesOf } from '@troupe/contract';
import { AppError, type RequestInfo } from '@troupe/kernel';
import type { ManagedFiles } from './files.ts';
import { toldBy } from './reaching.ts';

/** What a message of a session is made of: words, and pictures and documents, which go into the agent's workspace. */

type Sent = TypesOf<typeof backend.managed.sendEvents>['body']['events'][number];
export type Block = Extract<Sent, { type: 'user.message' }>['content'][number];
type Media = Exclude<Block, { type: 'text' }>;

export interface Where {
  userId: string;
  agentId: string;
  client: Client;
}

const TRANSFER_MS = 5 * 60_000;
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'application/pdf': '.pdf',
  'text/plain': '.txt',
};

const plain = (name: string): string => name.replaceAll(/[^\p{L}\p{N}._ ()-]/gu, '_').replace(/^\.+/, '') || 'file';

export function createBringing({ files }: { files: ManagedFiles }) {
  async function bytesOf(
    userId: string,
    block: Media,
    request: Pick<RequestInfo, 'holds'>,
  ): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> }> {
    const { source, type } = block;
    const title = block.type === 'document' && block.title ? plain(block.title) : undefined;
    if (source.type === 'file') {
      const { name, content } = await files.read(userId, source.file_id, request);
      return { name, bytes: new Uint8Array(content) };
    }
    const ending = ENDINGS[source.media_type] ?? '';
    const name = title ?? `${type === 'image' ? 'picture' : 'document'}${ending}`;
    if (source.type === 'text') return { name, bytes: new TextEncoder().encode(source.data) };
    const bytes = new Uint8Array(Buffer.from(source.data, 'base64'));
    if (bytes.length === 0) throw new AppError(400, 'A picture or document is empty');
    return { name, bytes };
  }

  /** Where the files lie by then. */
  return async ({ userId, agentId, client }: Where, blocks: readonly Block[], request: Pick<RequestInfo, 'holds'>) => {
    const attachments: string[] = [];
    for (const block of blocks) {
      if (block.type === 'text') continue;
      const { name, bytes } = await bytesOf(userId, block, request);
      const query = { path: `uploads/${name}`, fresh: 'true' as const };
      const put = { params: { agentId }, query, bytes, timeout: TRANSFER_MS };
      attachments.push((await client.call(gateway.files.put, put).catch(toldBy)).path);
    }
    return attachments;
  };
}
