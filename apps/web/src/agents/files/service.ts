import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { gateway } from '@troupe/contract';
import { isPlan, UPLOAD_MB } from '@troupe/domain';
import { AppError, respond, type BackendClient, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import type { Untried } from '../evaluations/service.ts';

export interface FilesDeps {
  roster: Roster;
  backend: BackendClient;
  untried: Untried;
}

export type FilesService = ReturnType<typeof createFiles>;

const MB = 1024 * 1024;
const TRANSFER_MS = 5 * 60_000;
/** A PDF may take the agent a while. */
const PREVIEW_MS = 30_000;

/** Pictures that a browser draws and does not run. Everything else is text, or is saved. */
const PICTURES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);

/** Whatever a file holds: no browser runs it, frames it or takes it for a page of ours. */
const GUARD = {
  'cache-control': 'private, no-store',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const savedAs = (name: string, how: 'inline' | 'attachment' = 'attachment') => ({
  'content-disposition': `${how}; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
});

function headersFor(path: string, show: boolean, length: string | null): Record<string, string> {
  const name = nameOf(path);
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const type = show ? (PICTURES.get(ending) ?? 'text/plain; charset=utf-8') : '';
  return {
    ...GUARD,
    'content-type': type || 'application/octet-stream',
    ...savedAs(name, show ? 'inline' : 'attachment'),
    ...(length !== null && { 'content-length': length }),
  };
}

/** Files that the agent is always shown are what it is, as its instruction is. */
function createChanging({ roster, untried }: Pick<FilesDeps, 'roster' | 'untried'>) {
  return async function changing(user: User, agentId: string, path: string, force: boolean): Promise<void> {
    const own = roster.of(user.id);
    const [newest] = await own.definitions(await own.get(agentId), 1);
    const shown = newest?.definition.traits?.promptFiles ?? [];
    const changed = posix.normalize(path);
    const isShown = shown.map((one) => posix.normalize(one)).some((one) => `${one}/`.startsWith(`${changed}/`));
    if (isShown || (shown.length > 0 && changed === '.')) await untried(user.id, agentId, force);
  };
}

type Client = (user: User, agentId: string, address: string) => Promise<ReturnType<BackendClient['as']>>;

function writing(client: Client, changing: ReturnType<typeof createChanging>) {
  return {
    async put(
      user: User,
      agentId: string,
      { force = false, ...query }: { path: string; fresh?: 'true'; force?: boolean },
      bytes: Buffer,
      address: string,
    ) {
      const most = isPlan(user.plan) ? UPLOAD_MB[user.plan] : Math.max(...Object.values(UPLOAD_MB));
      if (bytes.length > most * MB) throw new AppError(413, `A file may have ${most} MB at most`);
      const { call } = await client(user, agentId, address);
      if (query.fresh === undefined) await changing(user, agentId, query.path, force);
      // The same bytes: a buffer of a request is never part of a shared one.
      const given = bytes as Buffer<ArrayBuffer>;
      return reach(call(gateway.files.put, { params: { agentId }, query, bytes: given, timeout: TRANSFER_MS }));
    },

    async remove(user: User, agentId: string, path: string, force: boolean, address: string) {
      const { call } = await client(user, agentId, address);
      await changing(user, agentId, path, force);
      return reach(call(gateway.files.remove, { params: { agentId }, query: { path } }));
    },
  };
}

/** An agent's files. The agent itself keeps them; web checks whose they are and how large one may be. */
export function createFiles({ roster, backend, untried }: FilesDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    await roster.of(user.id).get(agentId);
    return backend.as(user, address);
  };

  const changing = createChanging({ roster, untried });

  return {
    async list(user: User, agentId: string, path: string | undefined, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.files.list, { params: { agentId }, query: { ...(path !== undefined && { path }) } }));
    },

    async read(user: User, agentId: string, path: string, show: boolean, address: string, signal: AbortSignal) {
      const { open } = await client(user, agentId, address);
      const answer = await reach(
        open(gateway.files.read, { params: { agentId }, query: { path }, signal, timeout: TRANSFER_MS }),
      );
      const length = answer.headers.get('content-length');
      const stream = answer.body ? Readable.fromWeb(answer.body as ReadableStream) : Readable.from([]);
      return respond({ headers: headersFor(path, show, length), stream });
    },

    async preview(user: User, agentId: string, path: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.files.preview, { params: { agentId }, query: { path }, timeout: PREVIEW_MS }));
    },

    async pack(user: User, agentId: string, path: string | undefined, address: string, signal: AbortSignal) {
      const { open } = await client(user, agentId, address);
      const query = { ...(path !== undefined && { path }) };
      const answer = await reach(
        open(gateway.files.pack, { params: { agentId }, query, signal, timeout: TRANSFER_MS }),
      );
      const stream = answer.body ? Readable.fromWeb(answer.body as ReadableStream) : Readable.from([]);
      return respond({
        headers: {
          ...GUARD,
          ...savedAs(`${nameOf(path ?? '.').replace(/^\.*$/, 'files')}.zip`),
          'content-type': 'application/zip',
        },
        stream,
      });
    },

    ...writing(client, changing),
  };
}
