import { createHash } from 'node:crypto';
import { embedPassagesJob, MAX_DOCUMENT_MB, MOST_PASSAGES, readDocumentJob } from '@troupe/contract';
import type { Database, Jobs, UserTx } from '@troupe/db';
import { tuningSchema } from '@troupe/domain';
import { addPassages, extract, holdCollection, removePassages, type Extracted } from '@troupe/knowledge';
import { AppError, OutboundError, type Clock, type Outbound, type WorkerPool } from '@troupe/kernel';
import * as store from './reading-store.ts';

export interface ReadingDeps {
  db: Database;
  jobs: Jobs;
  clock: Clock;
  pool: WorkerPool;
  /** Reaches public addresses only. */
  outbound: Outbound;
}

type Document = NonNullable<Awaited<ReturnType<typeof store.documentToRead>>>;
type Good = Extract<Extracted, { ok: true }>;
type Fetched = { bytes: Uint8Array; mime?: string | undefined } | { error: string };

const HOUR_MS = 3_600_000;
const FETCH_MS = 30_000;
const PAGE_BYTES = MAX_DOCUMENT_MB * 1024 * 1024;
const AT_ONCE = 2;

/**
 * Reads documents as jobs: a process that dies leaves the document as it was, and the next one begins again. What is found
 * changes in one transaction: the old passages, or the new ones, never both.
 */
export function workOnDocuments(deps: ReadingDeps): void {
  const { db, jobs, clock } = deps;
  jobs.work(
    readDocumentJob,
    async ({ userId, documentId }, { tries }) => {
      const document = await store.documentToRead(db.user(userId), documentId);
      if (!document) return;
      if (document.state === 'removed') return remove(deps, userId, document);
      const isDue = document.next_read_at !== null && document.next_read_at <= clock();
      if (document.state === 'waiting' || isDue) await read(deps, userId, document, tries);
    },
    { concurrency: AT_ONCE },
  );
}

async function read(deps: ReadingDeps, userId: string, document: Document, tries: number): Promise<void> {
  const { db, pool } = deps;
  const fetched =
    document.url === null ? await ofStore(db.user(userId), document.id) : await ofWeb(deps.outbound, document.url);
  if ('error' in fetched) return failed(deps, userId, document, fetched.error);
  const digest = createHash('sha256').update(fetched.bytes).digest('hex');
  if (document.digest === digest && document.passages > 0)
    return ended(deps, userId, document, { state: 'ready', error: null });
  const { size, overlap } = tuningSchema.parse(document.tuning);
  const given = { bytes: fetched.bytes, name: nameFor(document), mime: fetched.mime, cut: { size, overlap } };
  const found = await extract(pool, userId, given);
  // A machine that has too much to do is no fault of the document: it is tried once more.
  if (!found.ok && found.slow && tries === 0) throw new AppError(503, found.error);
  if (!found.ok) return failed(deps, userId, document, found.error);
  await keep(deps, userId, document, { found, digest, bytes: fetched.bytes.length });
}

/** The name of a page says nothing about what it is: its server does. */
const nameFor = ({ source, name }: Document): string =>
  source === 'url' ? name.replace(/[?#].*$/, '').replace(/\.\w{1,5}$/, '') : name;

async function ofStore(tx: UserTx, documentId: string): Promise<Fetched> {
  const source = await store.sourceOf(tx, documentId);
  return source ? { bytes: source.content } : { error: 'The file is gone. Upload it again.' };
}

async function ofWeb(outbound: Outbound, url: string): Promise<Fetched> {
  try {
    const response = await outbound.fetch(url, { timeout: FETCH_MS, maxBytes: PAGE_BYTES });
    if (response.status !== 200) {
      response.cancel();
      return { error: `The page cannot be fetched: it answered ${response.status}.` };
    }
    return { bytes: await response.bytes(), mime: response.headers['content-type'] };
  } catch (error) {
    if (error instanceof OutboundError) return { error: `The page cannot be fetched: ${error.message}.` };
    throw error;
  }
}

/** What was found before stays, where there was something. */
const failed = (deps: ReadingDeps, userId: string, document: Document, error: string): Promise<void> =>
  ended(deps, userId, document, { state: document.passages > 0 ? 'ready' : 'failed', error });

async function ended(
  { db, jobs, clock }: ReadingDeps,
  userId: string,
  document: Document,
  how: Pick<store.Read, 'state' | 'error'>,
  more: { tx?: UserTx; values?: Partial<store.Read> } = {},
): Promise<void> {
  const at = clock();
  const next = document.every_hours === null ? null : new Date(at.getTime() + document.every_hours * HOUR_MS);
  const write = async (tx: UserTx): Promise<void> => {
    await store.setRead(tx, document.id, { ...how, ...more.values, read_at: at, next_read_at: next, updated_at: at });
    await store.dropSource(tx, document.id);
    const about = document.id;
    if (next)
      await jobs.send(tx, readDocumentJob, { userId, documentId: about }, { owner: userId, about, startAfter: next });
  };
  await (more.tx ? write(more.tx) : db.asUser(userId, write));
}

function keep(
  deps: ReadingDeps,
  userId: string,
  document: Document,
  { found, digest, bytes }: { found: Good; digest: string; bytes: number },
): Promise<void> {
  const { passages } = found;
  return deps.db.asUser(userId, async (tx) => {
    const collection = await holdCollection(tx, document.collection_id);
    const held = collection && (await store.holdDocument(tx, document.id));
    // Deleted meanwhile.
    if (!collection || !held || held.state === 'removed') return;
    const { rows } = await store.countPassages(tx);
    if ((rows[0]?.passages ?? 0) - held.passages + passages.length > MOST_PASSAGES) {
      const error = `Your documents have more than ${MOST_PASSAGES.toLocaleString('en')} passages. Delete some first.`;
      return ended(deps, userId, document, { state: held.passages > 0 ? 'ready' : 'failed', error }, { tx });
    }
    await removePassages(tx, {
      collection: collection.number,
      documentId: held.id,
      first: held.first,
      count: held.passages,
      terms: held.terms.split('\n'),
    });
    const first = collection.next;
    const terms = await addPassages(
      tx,
      { userId, collection: collection.number, documentId: held.id, first },
      passages,
    );
    const words = passages.reduce((sum, one) => sum + one.words, 0);
    await store.countIn(tx, document.collection_id, {
      passages: passages.length - held.passages,
      words: words - held.words,
      next: passages.length,
    });
    const { kind, title = null, notes } = found;
    const values = { kind, title, notes, digest, bytes, first, passages: passages.length, words, terms };
    await ended(deps, userId, document, { state: 'ready', error: null }, { tx, values });
    const { collection_id: collectionId } = document;
    if (document.embeddings !== null)
      await deps.jobs.send(tx, embedPassagesJob, { userId, collectionId }, { owner: userId, about: collectionId });
  });
}

const remove = ({ db }: ReadingDeps, userId: string, document: Document): Promise<void> =>
  db.asUser(userId, async (tx) => {
    const collection = await holdCollection(tx, document.collection_id);
    const held = collection && (await store.holdDocument(tx, document.id));
    if (!collection || !held) return;
    await removePassages(tx, {
      collection: collection.number,
      documentId: held.id,
      first: held.first,
      count: held.passages,
      terms: held.terms.split('\n'),
    });
    await store.countIn(tx, document.collection_id, { passages: -held.passages, words: -held.words, next: 0 });
    await store.dropDocument(tx, held.id);
  });
