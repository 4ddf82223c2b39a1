import {
  backend as onBackend,
  embedPassagesJob,
  MOST_COLLECTIONS,
  MOST_DOCUMENTS,
  MOST_PASSAGES,
  MOST_WAITING,
  readDocumentJob,
  type KnowledgeCollection,
  type KnowledgeDocument,
  type TypesOf,
  type web,
} from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import type { Tuning } from '@troupe/domain';
import { createPassageSearch, readPassage } from '@troupe/knowledge';
import { AppError, iso, isoOrNull, newId, type BackendClient, type Log, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { workOnDocuments, type ReadingDeps } from './reading.ts';
import { dropSource } from './reading-store.ts';
import * as store from './store.ts';

export interface KnowledgeDeps extends ReadingDeps {
  roster: Roster;
  backend: BackendClient;
  log: Log;
}

export type KnowledgeService = ReturnType<typeof createKnowledge>;

type Added = TypesOf<typeof web.knowledge.add>['body'];

const found = <T>(value: T | undefined, what: 'Collection' | 'Document' | 'Passage'): T => {
  if (value === undefined) throw new AppError(404, `${what} not found`);
  return value;
};

const shown = (row: store.DocumentRow): KnowledgeDocument => ({
  id: row.id,
  name: row.name,
  title: row.title,
  source: row.source,
  url: row.url,
  kind: row.kind,
  // Those that are removed are not shown.
  state: row.state === 'removed' ? 'waiting' : row.state,
  error: row.error,
  notes: row.notes,
  bytes: row.bytes,
  passages: row.passages,
  everyHours: row.every_hours,
  readAt: isoOrNull(row.read_at),
  nextReadAt: isoOrNull(row.next_read_at),
  createdAt: iso(row.created_at),
});

/** Collections in a line each, with the agents that have them. */
async function collections(tx: UserTx, id?: string): Promise<KnowledgeCollection[]> {
  const given = await store.listGiven(tx);
  return (await store.listCollections(tx, id)).map(
    ({ created_at: createdAt, updated_at: updatedAt, meaning_note: meaningNote, ...row }) => ({
      ...row,
      meaningNote,
      agents: given
        .filter(({ collectionId }) => collectionId === row.id)
        .map(({ agentId, name }) => ({ id: agentId, name })),
      createdAt: iso(createdAt),
      updatedAt: iso(updatedAt),
    }),
  );
}

interface Wanted {
  name: string;
  description: string;
  tuning?: Tuning | undefined;
}

type Changed = TypesOf<typeof web.knowledge.change>['body'];

function keeping({ db, jobs, clock }: KnowledgeDeps) {
  const one = async (userId: string, id: string): Promise<KnowledgeCollection> =>
    found((await collections(db.user(userId), id))[0], 'Collection');
  const taken = (): AppError => new AppError(409, 'You have a collection of this name');
  return {
    one,
    list: async (userId: string) => ({ collections: await collections(db.user(userId)) }),
    async create(userId: string, { name, description, tuning = {} }: Wanted) {
      const id = newId();
      const at = clock();
      await db.asUser(userId, async (tx) => {
        await store.lockKnowledge(tx, userId);
        if ((await store.countAll(tx)).collections >= MOST_COLLECTIONS)
          throw new AppError(409, `Too many collections (max ${MOST_COLLECTIONS}). Delete one first`);
        const row = { id, user_id: userId, name, description, tuning, created_at: at, updated_at: at };
        if (!(await store.addCollection(tx, row))) throw taken();
      });
      return one(userId, id);
    },
    async change(userId: string, id: string, given: Changed) {
      await db.asUser(userId, async (tx) => {
        await store.lockKnowledge(tx, userId);
        const other = given.name === undefined ? undefined : await store.findByName(tx, given.name);
        if (other && other.id !== id) throw taken();
        const { name, description, embeddings } = given;
        const values = {
          ...(embeddings !== undefined && store.chosen(embeddings)),
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          updated_at: clock(),
        };
        if (!(await store.changeCollection(tx, id, values))) throw new AppError(404, 'Collection not found');
        if (embeddings !== undefined)
          await jobs.send(tx, embedPassagesJob, { userId, collectionId: id }, { owner: userId, about: id });
      });
      return one(userId, id);
    },
    remove: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        const users = (await store.listGiven(tx)).filter(({ collectionId }) => collectionId === id);
        if (users.length > 0) {
          const names = users.slice(0, 10).map(({ name }) => name);
          throw new AppError(409, `Agents have this collection: ${names.join(', ')}. Take it from them first`);
        }
        if (!(await store.removeCollection(tx, id))) throw new AppError(404, 'Collection not found');
        return { success: true as const };
      }),
  };
}

/** What comes in: kept as it is, and read by a job. */
function taking({ db, jobs, clock }: KnowledgeDeps, one: ReturnType<typeof keeping>['one']) {
  async function put(
    userId: string,
    collectionId: string,
    given: Omit<store.NewDocument, 'id' | 'user_id' | 'collection_id' | 'at'>,
    content?: Uint8Array,
  ): Promise<KnowledgeDocument> {
    await one(userId, collectionId);
    const id = newId();
    const row = await db.asUser(userId, async (tx) => {
      await store.lockKnowledge(tx, userId);
      const { documents, waiting, passages } = await store.countAll(tx);
      if (documents >= MOST_DOCUMENTS)
        throw new AppError(409, `Too many documents (max ${MOST_DOCUMENTS}). Delete some first`);
      if (waiting >= MOST_WAITING)
        throw new AppError(409, `Too many documents wait to be read (max ${MOST_WAITING}). Try again later`);
      if (passages >= MOST_PASSAGES)
        throw new AppError(409, `Your documents have more than ${MOST_PASSAGES} passages. Delete some first`);
      // Held, so that nobody deletes the collection meanwhile.
      if (!(await store.changeCollection(tx, collectionId, { updated_at: clock() })))
        throw new AppError(404, 'Collection not found');
      await store.addDocument(tx, { ...given, id, user_id: userId, collection_id: collectionId, at: clock() }, content);
      await jobs.send(tx, readDocumentJob, { userId, documentId: id }, { owner: userId, about: id });
      return store.findDocument(tx, id);
    });
    return shown(found(row, 'Document'));
  }

  return {
    upload: (userId: string, id: string, name: string, bytes: Buffer) => {
      if (bytes.length === 0) throw new AppError(400, 'The file is empty');
      return put(userId, id, { name, source: 'file', url: null, bytes: bytes.length, every_hours: null }, bytes);
    },
    add: (userId: string, id: string, { name, text, url, everyHours }: Added) => {
      if (url !== undefined)
        return put(userId, id, { name: name ?? url, source: 'url', url, bytes: 0, every_hours: everyHours ?? null });
      const bytes = Buffer.from(text ?? '');
      const first = (text ?? '').trim().split('\n', 1)[0]!.slice(0, 60);
      return put(
        userId,
        id,
        { name: name ?? first, source: 'text', url: null, bytes: bytes.length, every_hours: null },
        bytes,
      );
    },
  };
}

/** Documents that are there. */
function documents({ db, jobs, clock }: KnowledgeDeps, one: ReturnType<typeof keeping>['one']) {
  const get = async (userId: string, id: string) =>
    shown(found(await store.findDocument(db.user(userId), id), 'Document'));

  const onPage = (userId: string, id: string, change: Parameters<typeof store.changeDocument>[2], startAfter?: Date) =>
    db.asUser(userId, async (tx) => {
      const row = found(await store.findDocument(tx, id), 'Document');
      if (row.source !== 'url') throw new AppError(409, 'Only a page is read again');
      await store.changeDocument(tx, id, change);
      // One that was never read does not wait for its time.
      const when = startAfter && row.state !== 'waiting' ? { startAfter } : {};
      await jobs.send(tx, readDocumentJob, { userId, documentId: id }, { owner: userId, about: id, ...when });
      return shown(found(await store.findDocument(tx, id), 'Document'));
    });

  return {
    getDocument: get,
    async listDocuments(userId: string, id: string, page: { limit: number; offset: number }) {
      const { documents: total } = await one(userId, id);
      return { documents: (await store.listDocuments(db.user(userId), id, page)).map(shown), total };
    },
    changeDocument: (userId: string, id: string, everyHours: number | null) => {
      const at = clock();
      const next = everyHours === null ? null : new Date(at.getTime() + everyHours * 3_600_000);
      return onPage(userId, id, { every_hours: everyHours, next_read_at: next, updated_at: at }, next ?? at);
    },
    readAgain: (userId: string, id: string) => onPage(userId, id, { state: 'waiting', updated_at: clock() }),
    removeDocument: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        found(await store.findDocument(tx, id), 'Document');
        await store.changeDocument(tx, id, { state: 'removed', updated_at: clock() });
        await dropSource(tx, id);
        await jobs.send(tx, readDocumentJob, { userId, documentId: id }, { owner: userId, about: id });
        return { success: true as const };
      }),
  };
}

function searching({ db, backend, log }: KnowledgeDeps) {
  const search = createPassageSearch();
  /** The backend has the models; while it is away, the words have to do. */
  async function byMeaning(user: User, body: { collections: string[]; query: string; limit: number }, address: string) {
    try {
      return await backend.as(user, address).call(onBackend.knowledge.find, { body });
    } catch (error) {
      log.warn({ err: error }, 'a question was searched by words alone');
      return undefined;
    }
  }
  return {
    async search(
      user: User,
      { query, collection, limit }: { query: string; collection?: string | undefined; limit: number },
      address: string,
    ) {
      const tx = db.user(user.id);
      const all = await store.listCollections(tx);
      const asked = collection === undefined ? all : all.filter(({ id }) => id === collection);
      if (collection !== undefined && asked.length === 0) throw new AppError(404, 'Collection not found');
      const collections = asked.map(({ id }) => id);
      const found = asked.some(({ embedded }) => embedded > 0)
        ? await byMeaning(user, { collections, query, limit }, address)
        : undefined;
      return found ?? { passages: await search(tx, collections, query, limit) };
    },
    async getPassage(userId: string, documentId: string, index: number, around: number) {
      return { passages: found(await readPassage(db.user(userId), { documentId, index, around }), 'Passage') };
    },
  };
}

/** Which collections an agent may search. */
function giving({ db, roster, backend }: KnowledgeDeps) {
  async function ofAgent(user: User, agentId: string) {
    const own = roster.of(user.id);
    const { knowledge = [] } = await own.definition(await own.get(agentId));
    const has = new Set(knowledge.map(({ id }) => id));
    const all = await store.listCollections(db.user(user.id));
    return { collections: all.map(({ id, name, description }) => ({ id, name, description, on: has.has(id) })) };
  }

  type Place = { id: string; collectionId: string };

  async function change(user: User, { id, collectionId }: Place, on: boolean, force: boolean, address: string) {
    await roster.of(user.id).get(id);
    const body = { collection: { id: collectionId, on }, force };
    await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body }));
    return ofAgent(user, id);
  }

  return {
    ofAgent,
    give: (user: User, place: Place, force: boolean, address: string) => change(user, place, true, force, address),
    take: (user: User, place: Place, force: boolean, address: string) => change(user, place, false, force, address),
  };
}

export function createKnowledge(deps: KnowledgeDeps) {
  deps.jobs.define(embedPassagesJob);
  workOnDocuments(deps);
  const { one, ...kept } = keeping(deps);
  return { ...kept, ...taking(deps, one), ...documents(deps, one), ...searching(deps), ...giving(deps) };
}
