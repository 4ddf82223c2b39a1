import { createReadStream } from 'node:fs';
import { lstat, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { pipeline as joined, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { archiveOf, createJail, removeTree, unpackItem, WORKSPACE_ENTRIES } from '@troupe/agent';
import { replaceWorkspace, type Database } from '@troupe/db';
import { tar, untar, type TarEntry } from '@troupe/kernel';
import { keepRows, replaceRows, rowsBeside, writeRows } from './backup-rows.ts';
import { pack } from './pack.ts';
import type { AgentRow } from '@troupe/roster';

const WORKSPACE = 'workspace';

/** The agent's rows as they are at one moment, and its files. */
export async function backUp(db: Database, agent: AgentRow, workspace: string, file: string): Promise<void> {
  const beside = rowsBeside(file);
  async function* all(): AsyncGenerator<TarEntry> {
    yield* await writeRows(db, agent, beside);
    // An agent that never used a file has no folder.
    if (await lstat(workspace).catch(() => undefined))
      yield* archiveOf(createJail(workspace), '.', WORKSPACE, { entries: WORKSPACE_ENTRIES });
  }
  try {
    await pack(Readable.from(tar(all()), { objectMode: false }), file);
  } finally {
    await removeTree(beside);
  }
}

/** Reads the whole archive before anything of the agent is touched: files go into a folder beside, rows into another. */
async function unpack(file: string, folder: string): Promise<void> {
  for (const made of [folder, rowsBeside(folder)]) {
    await removeTree(made);
    await mkdir(made, { recursive: true, mode: 0o700 });
  }
  const jail = createJail(folder);
  // What fails is thrown by the last of them.
  const stream = joined(createReadStream(file), createGunzip(), () => {});
  for await (const item of untar(stream)) {
    const inside = path.posix.relative(WORKSPACE, path.posix.normalize(item.path));
    if (item.path.startsWith(`${WORKSPACE}/`)) await unpackItem(jail, inside, item);
    else await keepRows(item, rowsBeside(folder));
  }
}

/** Rows and files in one transaction; the files are stored before, under another name, by `store`. */
export async function putBackStored(
  db: Database,
  agent: AgentRow,
  { file, beside, store }: { file: string; beside: string; store: (folder: string) => Promise<void> },
): Promise<void> {
  try {
    await unpack(file, beside);
    await store(beside);
    await db.asUser(agent.user_id, async (tx) => {
      await replaceRows(tx, agent, rowsBeside(beside));
      await replaceWorkspace(tx, agent.id);
    });
  } finally {
    for (const made of [beside, rowsBeside(beside)]) await removeTree(made);
  }
}

/** The rows in one transaction, then the files by two renames. To be done again when it was cut short. */
export async function putBack(db: Database, agent: AgentRow, workspace: string, file: string): Promise<void> {
  const beside = `${workspace}.restoring`;
  const old = `${workspace}.replaced`;
  await unpack(file, beside);
  await db.asUser(agent.user_id, (tx) => replaceRows(tx, agent, rowsBeside(beside)));
  await removeTree(rowsBeside(beside));
  await removeTree(old);
  await rename(workspace, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(beside, workspace);
  await removeTree(old);
}
