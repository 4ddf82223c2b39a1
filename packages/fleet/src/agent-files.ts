import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { createCopy, removeTree, storeFolder, type Copy, type ToolkitDeps } from '@troupe/agent';
import type { Blobs, Database } from '@troupe/db';
import { newId, type Log, type WorkerPool } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import { backUp, putBack, putBackStored } from './embedded-backup.ts';

/** The files of agents that live in this process: in a folder of this machine, or in the blob store with copies here. */
export interface AgentFiles {
  of: (agentId: string, userId: string) => Pick<ToolkitDeps, 'workspaceRoot'> & { copy?: Copy };
  /** What a driver does with them. */
  actions: {
    backup: (agent: AgentRow, file: string) => Promise<void>;
    restore: (agent: AgentRow, file: string) => Promise<void>;
    /** Brings folders of earlier days into the blob store; answers how many. */
    adopt: () => Promise<number>;
  };
  /** Nothing of it is left on this machine. */
  remove: (agentId: string) => Promise<void>;
  close: () => Promise<void>;
}

export interface AgentFilesDeps {
  db: Database;
  dataDir: string;
  pool: WorkerPool;
  log: Log;
  /** Left out: in the folder. */
  blobs?: Blobs | undefined;
  /** A copy that nobody used for so long is taken off the disk. */
  copyIdleMs?: number;
}

const COPY_IDLE_MS = 3_600_000;
const ALIVE_EVERY_MS = 60_000;
/** Whoever does not say for so long that it lives is dead, and its copies are nobody's. */
const DEAD_AFTER_MS = 600_000;
const ALIVE = 'alive';
/** What is beside a workspace. */
const LEFT = /\.(?:restoring|rows|replaced|stored)$/;

export function createAgentFiles(deps: AgentFilesDeps): AgentFiles {
  const { db, dataDir, blobs } = deps;
  const folderOf = (agentId: string): string => path.join(dataDir, 'workspaces', agentId);
  if (blobs) return inBlobs({ ...deps, blobs }, folderOf);
  return {
    of: (agentId) => ({ workspaceRoot: folderOf(agentId) }),
    actions: {
      backup: (agent, file) => backUp(db, agent, folderOf(agent.id), file),
      restore: (agent, file) => putBack(db, agent, folderOf(agent.id), file),
      adopt: async () => 0,
    },
    remove: (agentId) => removeFolders(folderOf(agentId)),
    close: async () => {},
  };
}

async function removeFolders(folder: string): Promise<void> {
  for (const ending of ['', '.restoring', '.restoring.rows', '.replaced', '.stored']) await removeTree(folder + ending);
}

function inBlobs(deps: AgentFilesDeps & { blobs: Blobs }, folderOf: (agentId: string) => string): AgentFiles {
  const { db, dataDir, pool, log, blobs, copyIdleMs = COPY_IDLE_MS } = deps;
  const copies = new Map<string, Copy>();
  const home = openHome(path.join(dataDir, 'copies'), log);

  function copyOf(agentId: string, userId: string): Copy {
    const known = copies.get(agentId);
    if (known) return known;
    const tree = blobs.tree({ agentId, userId, name: 'workspace' });
    const root = path.join(home.folder, agentId);
    const made = createCopy({ tree, root, before: folderOf(agentId), pool, owner: userId, log });
    copies.set(agentId, made);
    return made;
  }

  async function dropIdle(): Promise<void> {
    for (const [agentId, copy] of copies)
      if (Date.now() - copy.usedAt() > copyIdleMs && (await copy.drop())) copies.delete(agentId);
  }
  const dropping = setInterval(() => {
    dropIdle().catch((err: unknown) => log.error({ err }, 'idle copies of workspaces could not be removed'));
  }, copyIdleMs / 4).unref();

  return {
    of: (agentId, userId) => ({ workspaceRoot: path.join(home.folder, agentId), copy: copyOf(agentId, userId) }),
    actions: {
      async backup(agent, file) {
        const copy = copyOf(agent.id, agent.user_id);
        await copy.refresh();
        await backUp(db, agent, copy.root, file);
      },
      async restore(agent, file) {
        const beside = path.join(home.folder, `${agent.id}.restoring`);
        await putBackStored(db, agent, { file, beside, store: (folder) => storeBeside(blobs, pool, agent, folder) });
        await copyOf(agent.id, agent.user_id).forget();
      },
      adopt: () => adoptAll(db, folderOf('.'), copyOf),
    },
    async remove(agentId) {
      await copies.get(agentId)?.forget();
      copies.delete(agentId);
      await removeFolders(folderOf(agentId));
    },
    async close() {
      clearInterval(dropping);
      await home.close();
    },
  };
}

/** What a backup holds, under a name of its own until the rows are put back too. */
async function storeBeside(blobs: Blobs, pool: WorkerPool, agent: AgentRow, folder: string): Promise<void> {
  const { id: agentId, user_id: userId } = agent;
  const tree = blobs.tree({ agentId, userId, name: 'restoring' });
  const index = `${folder}.index`;
  await tree.remove();
  // A backup of an agent without files has an empty folder, and that is what is to be there.
  await tree.store({});
  await writeFile(index, '', { mode: 0o600 });
  const problem = await storeFolder({ tree, pool, owner: userId }, { folder, index });
  await rm(index, { force: true });
  if (problem !== undefined) throw new Error(`the files of a backup cannot be stored: ${problem}`);
}

/** Before anybody works: an agent that is first needed on another machine would begin with nothing. */
async function adoptAll(
  db: Database,
  folder: string,
  copyOf: (agentId: string, userId: string) => Copy,
): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => !LEFT.test(name));
  if (names.length === 0) return 0;
  const { rows } = await sql<{ id: string; user_id: string }>`select id, user_id from agents a
    where id = any(${names}::text[]) and not exists (
      select from blob_trees t where t.agent_id = a.id and t.name = 'workspace')`.execute(db.system);
  for (const { id, user_id: userId } of rows) {
    const copy = copyOf(id, userId);
    await copy.refresh();
    await copy.drop();
  }
  return rows.length;
}

/** A folder for the copies of this process alone. Those of processes that are dead go. */
function openHome(all: string, log: Log) {
  const id = newId();
  const folder = path.join(all, id);
  const sign = path.join(folder, ALIVE);

  async function live(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(sign, '', { flag: 'a', mode: 0o600 });
    await utimes(sign, new Date(), new Date());
    for (const name of await readdir(all)) {
      const entry = path.join(all, name);
      const seen = await stat(path.join(entry, ALIVE))
        .catch(() => stat(entry))
        .catch(() => undefined);
      if (name !== id && seen && Date.now() - seen.mtimeMs > DEAD_AFTER_MS) await removeTree(entry);
    }
  }
  const tell = (): Promise<void> =>
    live().catch((err: unknown) => log.warn({ err, folder }, 'the folder of working copies cannot be written'));
  const timer = setInterval(() => void tell(), ALIVE_EVERY_MS).unref();
  void tell();
  return {
    folder,
    async close(): Promise<void> {
      clearInterval(timer);
      await removeTree(folder);
    },
  };
}
