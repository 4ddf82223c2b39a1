import { constants } from 'node:fs';
import { chmod, lchown, lstat, mkdir, open, rename, rm, rmdir, symlink, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CHUNK_BYTES, digestOf, hashOf, toChunk, type BlobNews, type BlobTree } from '@troupe/db';
import { randomHex } from '@troupe/kernel';
import { folderSign, linkSign, saysOf, signOf, UNSURE, type IndexLine } from './copy-index.ts';
import { createJail, OutsideWorkspace, type Jail, type Place } from './jail.ts';
import { removeTree } from './remove-tree.ts';
import { sandboxOwner } from '../sandbox/sandbox-user.ts';

/** Files between the blob store and a disk. */

type Noted = (lines: IndexLine[]) => Promise<void>;
/** What chunks say, by hash. */
type Said = ReadonlyMap<string, Uint8Array>;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Of chunks that are in memory at once. */
const CHUNKS = 4;
const AT_ONCE = 8;
/** Longer than two changes of a file can bear the same time. */
const TICK_MS = 12;
const NOTHING = Buffer.alloc(CHUNK_BYTES);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
/** It vanished, or was swapped for a link to the outside. */
export const isElsewhere = (error: unknown): boolean =>
  error instanceof OutsideWorkspace || ['ENOENT', 'ELOOP', 'ENOTDIR'].includes(codeOf(error));

/** Files whose chunks fit into memory together. */
function* handfuls(files: readonly BlobNews[]): Generator<BlobNews[]> {
  let hand: BlobNews[] = [];
  let parts = 0;
  for (const file of files) {
    if (parts + file.parts.length > CHUNKS * AT_ONCE && hand.length > 0) {
      yield hand;
      [hand, parts] = [[], 0];
    }
    hand.push(file);
    parts += file.parts.length;
  }
  if (hand.length > 0) yield hand;
}

/** A disk that is nearly full takes a part of it, and says so in a number. */
async function writeAll(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}

/** What a file says, piece by piece; nothing but zeros is left out, so that what was sparse stays so. */
async function fill(tree: BlobTree, handle: FileHandle, file: BlobNews, ready: Said = new Map()) {
  const { parts, size, mode } = file;
  let said: Said = ready;
  for (let from = 0; from < parts.length; from += CHUNKS) {
    const hashes = parts.slice(from, from + CHUNKS);
    if (!hashes.every((hash) => said.has(hash))) said = await tree.get(hashes);
    for (const [offset, hash] of hashes.entries()) {
      const bytes = said.get(hash) ?? NOTHING.subarray(0, 0);
      const isNothing = bytes.length === CHUNK_BYTES && NOTHING.equals(bytes);
      if (!isNothing) await writeAll(handle, bytes, (from + offset) * CHUNK_BYTES);
    }
  }
  if (parts.length > 1) await handle.truncate(size);
  const uid = sandboxOwner();
  if (uid !== undefined) await handle.chown(uid, uid);
  await handle.chmod(mode);
}

async function layFile(tree: BlobTree, root: string, file: BlobNews, ready: Said): Promise<IndexLine> {
  const full = path.join(root, file.path);
  const handle = await open(full, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    await fill(tree, handle, file, ready);
    return [file.path, signOf(await handle.stat()), saysOf(file.mode, await digestOf(file.parts))];
  } finally {
    await handle.close();
  }
}

/** Files with what their chunks say, as many as fit into memory together. A large one is read while it is written. */
async function* withSaid(tree: BlobTree, files: readonly BlobNews[]): AsyncGenerator<{ hand: BlobNews[]; said: Said }> {
  for (const hand of handfuls(files)) {
    const hashes = hand.flatMap(({ parts }) => (parts.length > CHUNKS ? [] : parts));
    yield { hand, said: hashes.length > 0 ? await tree.get(hashes) : new Map<string, Uint8Array>() };
  }
}

async function layFiles(tree: BlobTree, root: string, files: readonly BlobNews[], noted: Noted): Promise<void> {
  for await (const { hand, said } of withSaid(tree, files))
    for (let from = 0; from < hand.length; from += AT_ONCE)
      await noted(await Promise.all(hand.slice(from, from + AT_ONCE).map((file) => layFile(tree, root, file, said))));
}

/** All that is stored into a new folder, which then takes the place of `root`. Nobody else can see it before. */
export async function lay(tree: BlobTree, beside: string, root: string, noted: Noted): Promise<void> {
  const uid = sandboxOwner();
  const folders: BlobNews[] = [];
  const links: BlobNews[] = [];
  await mkdir(beside, { mode: 0o700 });
  for await (const page of tree.news(0)) {
    for (const one of page.filter(({ kind }) => kind === 'folder')) {
      await mkdir(path.join(beside, one.path), { recursive: true, mode: 0o700 });
      folders.push(one);
    }
    await layFiles(
      tree,
      beside,
      page.filter(({ kind }) => kind === 'file'),
      noted,
    );
    links.push(...page.filter(({ kind }) => kind === 'link'));
  }
  // Now that nothing is written any more, none of them can lead astray.
  for (const { path: at, link = '' } of links) {
    await symlink(link, path.join(beside, at));
    if (uid !== undefined) await lchown(path.join(beside, at), uid, uid);
  }
  for (const { path: at, mode } of folders.toReversed()) {
    if (uid !== undefined) await lchown(path.join(beside, at), uid, uid);
    if (mode !== 0o700) await chmod(path.join(beside, at), mode);
  }
  await noted([
    ...folders.map(({ path: at, mode }): IndexLine => [at, folderSign(mode)]),
    ...links.map(({ path: at, link = '' }): IndexLine => [at, linkSign(link)]),
  ]);
  if (uid !== undefined) await lchown(beside, uid, uid);
  if (folders.length + links.length > 0) await delay(TICK_MS);
  await rename(beside, root);
}

/** What others changed, into a folder in which commands may be running. */
export async function patch(tree: BlobTree, root: string, news: readonly BlobNews[], noted: Noted): Promise<void> {
  const jail = createJail(root);
  const gone = news.filter(({ kind }) => kind === 'gone').toReversed();
  for (const { path: at } of gone) await takeAway(jail, at);
  await noted(gone.map(({ path: at }): IndexLine => [at]));
  const of = (kind: BlobNews['kind']): BlobNews[] => news.filter((one) => one.kind === kind);
  for (const one of of('folder')) await noted([await patchOne(jail, one)]);
  for await (const { hand, said } of withSaid(tree, of('file')))
    for (const one of hand) await noted([await patchOne(jail, one, (place) => patchFile(tree, place, one, said))]);
  for (const one of of('link')) await noted([await patchOne(jail, one)]);
}

/** What somebody has put into a folder meanwhile stays, and the folder with it. */
const takeAway = (jail: Jail, at: string): Promise<void> =>
  jail
    .within(at, async ({ full }) => {
      const stat = await lstat(full);
      if (stat.isDirectory()) await rmdir(full);
      else await rm(full, { force: true });
    })
    .catch((error: unknown) => {
      if (!isElsewhere(error) && codeOf(error) !== 'ENOTEMPTY') throw error;
    });

async function patchOne(jail: Jail, one: BlobNews, file?: (place: Place) => Promise<IndexLine>): Promise<IndexLine> {
  const { path: at, kind, mode, link = '' } = one;
  const uid = sandboxOwner();
  return jail.within(
    at,
    async (place): Promise<IndexLine> => {
      const stat = await lstat(place.full).catch(() => undefined);
      if (stat && stat.isDirectory() !== (kind === 'folder')) await removeTree(place.full);
      if (file) return file(place);
      if (kind === 'link') await rm(place.full, { force: true });
      if (kind === 'link') await symlink(link, place.full);
      else if (!stat?.isDirectory()) await mkdir(place.full, { mode: 0o700 });
      if (uid !== undefined) await lchown(place.full, uid, uid);
      if (kind === 'link') return [at, linkSign(link)];
      await using handle = await open(place.full, O_RDONLY | O_NOFOLLOW);
      await handle.chmod(mode);
      return [at, folderSign(mode)];
    },
    { create: true },
  );
}

async function patchFile(tree: BlobTree, { folder, full }: Place, file: BlobNews, said: Said): Promise<IndexLine> {
  const beside = path.join(folder, `.${randomHex(8)}.part`);
  const handle = await open(beside, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    await fill(tree, handle, file, said);
    await rename(beside, full);
    return [file.path, UNSURE, saysOf(file.mode, await digestOf(file.parts))];
  } finally {
    await handle.close();
    await rm(beside, { force: true });
  }
}

/**
 * Stores what a large file says, piece by piece, where that is not stored yet. Undefined: it is gone, or no file any
 * more. `closed`: it cannot be opened.
 */
export async function takeLarge(
  tree: BlobTree,
  root: string,
  at: string,
): Promise<{ parts: string[]; size: number } | 'closed' | undefined> {
  try {
    return await createJail(root).within(at, async ({ full }) => {
      await using handle = await open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const stat = await handle.stat();
      return stat.isFile() ? await takePieces(tree, handle, stat.size) : undefined;
    });
  } catch (error) {
    if (isElsewhere(error)) return undefined;
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return 'closed';
    throw error;
  }
}

/** As far as it reached when it was opened: one that grows is not followed. */
export async function takePieces(tree: BlobTree, handle: FileHandle, length: number) {
  const parts: string[] = [];
  /** Stored, or about to be. */
  const known = new Set<string>();
  /** The hash of a piece of zeros: there may be very many in a file that takes no room. */
  let nothing: string | undefined;
  let size = 0;
  while (size < length) {
    const pieces: { hash: string; content: Buffer }[] = [];
    while (pieces.length < CHUNKS && size < length) {
      const content = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length - size));
      const { bytesRead } = await handle.read(content, 0, content.length, size);
      if (bytesRead === 0) break;
      // Pieces are of one size, but for the last.
      if (bytesRead < content.length) length = size + bytesRead;
      size += bytesRead;
      const said = content.subarray(0, bytesRead);
      const isNothing = said.length === CHUNK_BYTES && NOTHING.equals(said);
      pieces.push({ hash: isNothing ? (nothing ??= await hashOf(said)) : await hashOf(said), content: said });
    }
    if (pieces.length === 0) break;
    const unknown = pieces.map(({ hash }) => hash).filter((hash) => !known.has(hash));
    const lacking = unknown.length > 0 ? await tree.lacks(unknown) : new Set<string>();
    for (const hash of unknown) known.add(hash);
    const chunks = await Promise.all(
      pieces.filter(({ hash }) => lacking.has(hash)).map(({ content }) => toChunk(content)),
    );
    if (chunks.length > 0) await tree.put(chunks);
    parts.push(...pieces.map(({ hash }) => hash));
  }
  return { parts, size };
}
