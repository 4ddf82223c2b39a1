import type { Database } from '@troupe/db';
import { readPassage, type Hit, type Meaning, type PassageSearch } from '@troupe/knowledge';
import type { Cited, KnowledgeSource } from './knowledge.ts';

const citedBy =
  (dashboard: string) =>
  ({ documentId, document, collection, index, of, place, heading, text }: Omit<Hit, 'score'>): Cited => ({
    documentId,
    document,
    collection,
    index,
    of,
    place,
    heading,
    text,
    link: `${dashboard}/knowledge?passage=${documentId}.${index}`,
  });

/** The documents of an owner, as the platform has them. */
export function pgKnowledge({
  db,
  userId,
  search,
  meaning,
  dashboard,
}: {
  db: Database;
  userId: string;
  search: PassageSearch;
  /** Left out: words alone. */
  meaning?: Meaning | undefined;
  dashboard: string;
}): KnowledgeSource {
  const cited = citedBy(dashboard);
  return {
    search: async (query, limit, collections) =>
      (await search(db.user(userId), collections, query, limit, meaning)).map(cited),
    read: async ({ document: documentId, index, around }, collections) =>
      (await readPassage(db.user(userId), { documentId, index, around }, collections))?.map(cited),
  };
}
