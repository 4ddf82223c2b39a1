import type { TeamCollection } from '@troupe/domain';
import type { KnowledgeService } from '../knowledge/service.ts';
import type { Undo } from './undo.ts';

/** Files by the name of the collection that they are for. */
export type CollectionFiles = ReadonlyMap<string, readonly { path: string; content: Uint8Array }[]>;

const NAME_LENGTH = 100;

/** One that is there already is never used: a document of somebody else must not choose what its agents may read. */
function freshName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let n = 2; taken.has(name); n += 1) name = `${wanted.slice(0, NAME_LENGTH - 4)} ${n}`;
  return name;
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
  const { collections } = wanted.length > 0 ? await knowledge.list(userId) : { collections: [] };
  const taken = new Set(collections.map(({ name }) => name));
  for (const one of wanted) {
    const name = freshName(one.name, taken);
    const { description, tuning } = one;
    const { id } = await knowledge.create(userId, { name, description, tuning });
    taken.add(name);
    ids.set(one.name, id);
    undo.add(() => knowledge.remove(userId, id));
    if (one.embeddings !== undefined) await knowledge.change(userId, id, { embeddings: one.embeddings });
    for (const { path, content } of files.get(one.name) ?? [])
      if (content.length > 0) await knowledge.upload(userId, id, path.slice(-200), Buffer.from(content));
  }
  return ids;
}
