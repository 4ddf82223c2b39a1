import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase, dumpedRows, type Database } from '@troupe/db';
import { reachContainerData, startLater, type ContainerData } from '@troupe/fleet';
import { AppError, silentLog, StartError, VERSION, type Settings } from '@troupe/kernel';

/** What agents in containers keep in volumes of their engine: an archive for each, beside the rows. */

const ENDING = '.tar.gz';

export interface Saved {
  /** Agents whose data is in the backup. */
  saved: string[];
  /** Agents of which the engine has no data: they have never run there. */
  none: string[];
}

const inContainers = ({ AGENT_DRIVER: driver }: Settings): boolean => driver !== 'embedded';

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({ url, log: silentLog, poolSize: 2 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** What the engine does not do is a sentence, and what it means for the whole. */
async function orSay<T>(work: Promise<T>, what: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new StartError(`${error.message.replace(/\.$/, '')}: ${what}`, { cause: error });
  }
}

const reach = (settings: Settings, what: string): Promise<ContainerData> =>
  orSay(reachContainerData(settings, settings.AGENT_IMAGE ?? `troupe-agent:${VERSION}`, silentLog), what);

/** Copies the data of every agent whose row is in the dump; undefined: agents do not run in containers. */
export async function saveContainers(
  settings: Settings,
  { url, rows, folder }: { url: string; rows: string; folder: string },
): Promise<Saved | undefined> {
  if (!inContainers(settings)) return undefined;
  const data = await reach(settings, NOT_WHOLE);
  await mkdir(folder);
  return withDatabase(url, async (db) => {
    const saved: string[] = [];
    const none: string[] = [];
    for await (const { id, driver } of dumpedRows(rows, 'public.agents')) {
      if (!id || driver !== null) continue;
      const copied = data.copy(db, id, path.join(folder, id + ENDING));
      ((await orSay(copied, `the data of ${id} was not copied, so nothing was backed up.`)) ? saved : none).push(id);
    }
    await checkLost(db, none);
    return { saved, none };
  });
}

/** What runs has data: when this engine has none of it, another one does. */
async function checkLost(db: Database, none: string[]): Promise<void> {
  if (none.length === 0) return;
  const running = db.system.selectFrom('agents').select('id').where('id', 'in', none).where('status', '=', 'running');
  const lost = (await running.execute()).map(({ id }) => id);
  if (lost.length > 0)
    throw new StartError(`The container engine has no data of ${lost.join(', ')}, which should run: ${NOT_WHOLE}`);
}

/** Asked before anything is spent on a backup that would not be whole. */
export async function checkEngine(settings: Settings): Promise<void> {
  if (inContainers(settings)) await reach(settings, NOT_WHOLE);
}

const NOT_WHOLE =
  'nothing was backed up, because agents in containers have their data there. Start the engine, or set DOCKER_HOST, or KUBECONFIG, to the one that runs them.';

export interface Restoring {
  /** Makes the volumes. What it makes is taken away again when that fails. */
  put: () => Promise<void>;
  undo: () => Promise<void>;
  /** Has the agents that ran started, when the platform is. */
  finish: (url: string) => Promise<void>;
}

/** Looks whether the data of agents in containers can be put back, and changes nothing; undefined: there is none. */
export async function restoringContainers(settings: Settings, folder: string): Promise<Restoring | undefined> {
  const files = await readdir(folder).catch(() => []);
  if (files.length === 0) return undefined;
  if (!inContainers(settings))
    throw new StartError(
      'The backup holds the data of agents in containers: set AGENT_DRIVER to docker or swarm, and DOCKER_HOST to an engine for them, or AGENT_DRIVER to kubernetes, and KUBECONFIG to a cluster.',
    );
  const ids = files.map((name) => name.slice(0, -ENDING.length));
  const data = await reach(settings, NOT_RESTORED);
  const there: string[] = [];
  for (const id of ids) if (await orSay(data.has(id), NOT_RESTORED)) there.push(id);
  if (there.length > 0)
    throw new StartError(
      `The container engine already has data of ${there.join(', ')}: restore on an engine that has none, or remove those agents’ containers and volumes.`,
    );
  const begun: string[] = [];
  return {
    async put() {
      for (const id of ids) {
        begun.push(id);
        await orSay(data.put(id, path.join(folder, id + ENDING)), NOT_RESTORED);
      }
    },
    async undo() {
      for (const id of begun) await orSay(data.remove(id), `the volume of ${id} is half done and stays there.`);
    },
    finish: (url) => withDatabase(url, startLater),
  };
}

const NOT_RESTORED = 'nothing was restored, because the backup holds the data of agents in containers.';
