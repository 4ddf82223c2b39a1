import { FILES_MB, type backend, type TypesOf } from '@troupe/contract';
import { isOrphan } from '@troupe/db';
import { isPlan, UPLOAD_MB } from '@troupe/domain';
import { AppError, iso, isoOrNull, newId, readForm, respond, type Answer, type RequestInfo } from '@troupe/kernel';
import * as store from './files-store.ts';
import { paged, type ListQuery } from './paging.ts';
import type { ManagedDeps } from './service.ts';

/** Files that clients of Anthropic's API keep, to give them to sessions. */

type Shown = TypesOf<typeof backend.managed.getFile>['reply'];
export type ManagedFiles = ReturnType<typeof createFiles>;

const MB = 1024 * 1024;
/** A year; a form that names less or more is wrong about something. */
const LONGEST_S = 31_536_000;
const SHORTEST_S = 60;
const MIME = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}/;
const MOST_MIME = 200;

/** Whatever a file holds: no browser runs it, frames it or takes it for a page of ours. */
const GUARD = {
  'content-type': 'application/octet-stream',
  'cache-control': 'private, no-store',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

const shown = (row: store.FileRow): Shown => ({
  type: 'file',
  id: row.id,
  filename: row.name,
  mime_type: row.mime,
  size_bytes: row.bytes,
  created_at: iso(row.created_at),
  downloadable: true,
  expires_at: isoOrNull(row.expires_at),
  scope: null,
});

/** What a form has: a file, and how long it is kept. */
function readUpload({ headers, bytes }: Pick<RequestInfo, 'headers' | 'bytes'>) {
  const { fields, files } = readForm(headers['content-type'], bytes);
  const file = files.get('file');
  if (!file) throw new AppError(400, 'file required');
  const other = [...fields.keys(), ...files.keys()].find((name) => name !== 'file' && name !== 'expires_in_seconds');
  if (other !== undefined) throw new AppError(400, `${other.slice(0, 100) || 'a field'}: not known here`);
  const given = fields.get('expires_in_seconds');
  const seconds = given === undefined ? undefined : /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (seconds !== undefined && !(seconds >= SHORTEST_S && seconds <= LONGEST_S))
    throw new AppError(400, `expires_in_seconds must be a number from ${SHORTEST_S} to ${LONGEST_S}`);
  const [mime = 'application/octet-stream'] = MIME.exec(file.type) ?? [];
  return { file, seconds, mime: mime.slice(0, MOST_MIME) };
}

/** Clients of OpenAI look at the same address, and would take nothing that is said here. */
export function forAnthropic({ headers }: Pick<RequestInfo, 'headers'>): void {
  if (headers['anthropic-version'] === undefined)
    throw new AppError(404, 'Files are there for clients of Anthropic’s API');
}

export function createFiles({ db, clock }: Pick<ManagedDeps, 'db' | 'clock'>) {
  async function got(userId: string, id: string): Promise<store.FileRow> {
    const row = await store.file(db, userId, id, clock());
    if (!row) throw new AppError(404, 'File not found');
    return row;
  }
  /** With its bytes, which count as a body of that size until the request is answered. */
  async function read(userId: string, id: string, request: Pick<RequestInfo, 'holds'>) {
    const row = await got(userId, id);
    request.holds(row.bytes);
    const found = await store.content(db, userId, id, clock());
    if (!found) throw new AppError(404, 'File not found');
    return { ...row, content: found.content };
  }
  return {
    got,
    read,
    async upload({ userId, plan }: { userId: string; plan?: unknown }, request: RequestInfo): Promise<Shown> {
      const { file, seconds, mime } = readUpload(request);
      const most = isPlan(plan) ? UPLOAD_MB[plan] : Math.max(...Object.values(UPLOAD_MB));
      const bytes = file.bytes.length;
      if (bytes > most * MB) throw new AppError(413, `A file may have ${most} MB at most`);
      const at = clock();
      const row = {
        id: `file_${newId()}`,
        user_id: userId,
        name: file.name,
        mime,
        bytes,
        content: file.bytes,
        created_at: at,
        expires_at: seconds === undefined ? null : new Date(at.getTime() + seconds * 1000),
      };
      const made = db.asUser(userId, async (tx) => {
        if ((await store.bytesOf(tx, userId)) + bytes > FILES_MB * MB)
          throw new AppError(429, `Files may have ${FILES_MB} MB together`);
        return store.addFile(tx, row);
      });
      return shown(
        await made.catch((cause: unknown) => {
          throw isOrphan(cause) ? new AppError(404, 'User not found', {}, { cause }) : cause;
        }),
      );
    },
    list: (userId: string, query: Omit<ListQuery, 'include_archived'>) =>
      paged({ ...query, include_archived: 'true' }, (page) => store.files(db, userId, page, clock()), shown),
    get: async (userId: string, id: string) => shown(await got(userId, id)),
    async download(userId: string, id: string, request: Pick<RequestInfo, 'holds'>): Promise<Answer> {
      const { name, content } = await read(userId, id, request);
      const saved = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
      return respond({ headers: { ...GUARD, 'content-disposition': saved }, body: content });
    },
    async remove(userId: string, id: string) {
      if (!(await store.removeFile(db, userId, id))) throw new AppError(404, 'File not found');
      return { id, type: 'file_deleted' as const };
    },
    forgetExpired: () => store.forgetExpired(db.system, clock()),
  };
}
