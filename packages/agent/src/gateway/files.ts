import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FILE_BYTES } from '@troupe/contract';
import { AppError, createZipWriter, drained, STALLED_MS } from '@troupe/kernel';
import type { Kept } from '../agent.ts';
import { TooLarge } from '../workspace/workspace.ts';
import { sendJson, type Exchange } from './exchange.ts';

/** The files of an agent, as its owner sees, brings and takes them. Whatever they hold goes out as bytes, never as a page. */

const MAX_PATH = 1000;
const MAX_PATTERN = 300;

function pathOf({ query }: Exchange<Kept>, fallback?: string): string {
  const path = query.get('path') ?? fallback;
  if (path === undefined || path.trim() === '') throw new AppError(400, 'path required');
  if (path.length > MAX_PATH) throw new AppError(400, `path too long (max ${MAX_PATH})`);
  return path;
}

/** What is wrong with a path or a file, as the caller is told. */
export function fileError(error: unknown, path: string): unknown {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (error instanceof TooLarge) return new AppError(413, message);
  if (name === 'WorkspaceError' || name === 'OutsideWorkspace' || name === 'BadPattern')
    return new AppError(400, message);
  if (code === 'ENOENT' || code === 'ELOOP') return new AppError(404, 'File not found');
  if (code === 'ENOTDIR' || code === 'EISDIR')
    return new AppError(400, `${path} is ${code === 'EISDIR' ? 'a' : 'no'} folder`);
  if (code === 'ENAMETOOLONG' || code === 'EINVAL') return new AppError(400, 'path is not valid');
  return error;
}

async function told<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, path);
  }
}

export async function listFiles(exchange: Exchange<Kept>): Promise<void> {
  const path = pathOf(exchange, '.');
  const files = await exchange.agent.workspace();
  sendJson(exchange, { path, ...(await told(path, () => files.browse(path))) });
}

/** Files by pattern, for tasks that start when one arrives. */
export async function findFiles(exchange: Exchange): Promise<void> {
  const pattern = exchange.query.get('pattern') ?? '';
  if (pattern === '' || pattern.length > MAX_PATTERN) throw new AppError(400, 'pattern is not valid');
  const since = Number(exchange.query.get('since') ?? 0);
  if (!Number.isFinite(since)) throw new AppError(400, 'since is not valid');
  const workspace = await exchange.agent.workspace();
  sendJson(exchange, { files: await told(pattern, () => workspace.find(pattern, since)) });
}

export async function readFile(exchange: Exchange<Kept>): Promise<void> {
  const { response, signal } = exchange;
  const path = pathOf(exchange);
  const files = await exchange.agent.workspace();
  await told(path, () =>
    files.open(path, async (handle) => {
      const { size } = await handle.stat();
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': size,
        'content-disposition': 'attachment',
        'cache-control': 'no-store',
      });
      // A file that grows meanwhile is not followed; one that shrinks breaks the answer off.
      if (size === 0) return void response.end();
      // Who reads nothing would keep the file, and the workspace with it.
      response.setTimeout(STALLED_MS, () => response.destroy());
      const source = handle.createReadStream({ autoClose: false, start: 0, end: size - 1 });
      await pipeline(source, response, { signal }).catch((error: unknown) => {
        if (!response.destroyed) throw error;
      });
    }),
  );
}

export async function previewFile(exchange: Exchange<Kept>): Promise<void> {
  const path = pathOf(exchange);
  const files = await exchange.agent.workspace();
  sendJson(exchange, await told(path, () => files.preview(path)));
}

/** A folder as a zip, packed while it is sent. What goes meanwhile is left out. */
export async function packFolder(exchange: Exchange<Kept>): Promise<void> {
  const { response, signal } = exchange;
  const path = pathOf(exchange, '.');
  const workspace = await exchange.agent.workspace();
  const files = await told(path, () => workspace.gather(path));
  response.writeHead(200, {
    'content-type': 'application/zip',
    'content-disposition': 'attachment',
    'cache-control': 'no-store',
  });
  const zip = createZipWriter(async (piece) => {
    signal.throwIfAborted();
    if (!response.write(piece)) await drained(response);
  });
  try {
    for (const { path: file, name, bytes, modifiedAt } of files) {
      await workspace
        .open(file, (handle) => zip.add(name, new Date(modifiedAt), upTo(handle, bytes)))
        .catch((error: unknown) => {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        });
    }
    await zip.finish();
    response.end();
  } catch (error) {
    if (!response.destroyed && !signal.aborted) throw error;
  }
}

/** No more than it had when it was looked for: a file that grows is not followed. */
const upTo = (handle: FileHandle, bytes: number): AsyncIterable<Buffer> =>
  bytes === 0 ? Readable.from([]) : handle.createReadStream({ autoClose: false, start: 0, end: bytes - 1 });

export async function putFile(exchange: Exchange): Promise<void> {
  const { request, query } = exchange;
  const path = pathOf(exchange);
  if (Number(request.headers['content-length'] ?? 0) > FILE_BYTES)
    throw new AppError(413, new TooLarge(FILE_BYTES).message);
  const files = await exchange.agent.workspace();
  const options = { maxBytes: FILE_BYTES, fresh: query.get('fresh') === 'true' };
  sendJson(exchange, await told(path, () => files.put(path, request, options)), 201);
}

export async function removeFile(exchange: Exchange): Promise<void> {
  const path = pathOf(exchange);
  const files = await exchange.agent.workspace();
  await told(path, () => files.remove(path));
  sendJson(exchange, { success: true });
}
