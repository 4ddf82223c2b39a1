import { AppError } from '@troupe/kernel';
import type { TeamCollection } from '@troupe/domain';
import type { KnowledgeService } from '../knowledge/service.ts';
import type { Undo } from './undo.ts';

/** Files by the name of the collection that they are for. */
export type CollectionFiles = ReadonlyMap<string, readonly { path: string; content: Uint8Array }[]>;

const NAME_LENGTH = 100;
const MOST_NAMES = 60;

/** One that is there already is never used: a document of somebody else must not choose what its agents may read. */
async function createFresh(knowledge: KnowledgeService, userId: string, wanted: TeamCollection): Promise<string> {
  const { description, tuning } = wanted;
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? wanted.name : `${wanted.name.slice(0, NAME_LENGTH - 4)} ${n}`;
    try {
      return (await knowledge.create(userId, { name, description, tuning })).id;
    } catch (error) {
      const isTaken = error instanceof AppError && error.message === 'You have a collection of this name';
      if (!isTaken || n === MOST_NAMES) throw error;
    }
  }
}

/** The collections of a team with their files, by the names that its document has. */
export async function makeCollections(
  knowledge: KnowledgeService,
  userId: string,
  wanted: readonly TeamCollection[],
  files: CollectionFiles,
  undo: Undo,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const one of wanted) {
    const id = await createFresh(knowledge, userId, one);
    ids.set(one.name, id);
    undo.add(() => knowledge.remove(userId, id));
    for (const { path, content } of files.get(one.name) ?? [])
      if (content.length > 0) await knowledge.upload(userId, id, path.slice(-200), Buffer.from(content));
  }
  return ids;
}
