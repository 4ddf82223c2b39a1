import type { Ai, CallScope } from '@troupe/ai';
import { embedPassagesJob } from '@troupe/contract';
import type { Database, Jobs, UserTx } from '@troupe/db';
import { isPlan } from '@troupe/domain';
import { AppError, type Log } from '@troupe/kernel';
import {
  dropVectors,
  embeddingOf,
  holdEmbedding,
  keepVectors,
  Misfit,
  passagesWithout,
  setEmbedding,
  vectorsOf,
  type Embedding,
  type Meaning,
} from '@troupe/knowledge';
import { payerOf } from './store.ts';

/** Texts as numbers: those of questions at once, those of passages in the background. All of it is charged to the owner. */

interface MeaningDeps {
  db: Database;
  jobs: Jobs;
  ai: Pick<Ai, 'embed'>;
  log: Log;
}

export type Meanings = ReturnType<typeof createMeanings>;

/** Whoever asks waits for it: then the words alone have to do. */
const QUESTION_MS = 4_000;
const BATCH_MS = 60_000;
/** Passages of one call, and calls of one turn: then it is somebody else's. */
const BATCH = 32;
const BATCHES = 16;
const AT_ONCE = { concurrency: 2, perOwner: 1 };
/** A model that gives another number of values again and again is not asked any more. */
const MOST_CHANGES = 3;

const ANEW = (from: number | null, to: number): string =>
  `The embeddings model makes ${to} numbers of a text now, and made ${from} before. The collection is indexed anew; until then it is searched by words.`;
const GIVEN_UP =
  'The embeddings model keeps changing how many numbers it makes of a text. The collection is searched by words; choose another model.';

export function createMeanings(deps: MeaningDeps) {
  const { db, jobs, log } = deps;
  const embed = createEmbed(deps);
  jobs.work(
    embedPassagesJob,
    ({ userId, collectionId }, { signal }) => embedPassages({ ...deps, embed }, { userId, collectionId }, signal),
    AT_ONCE,
  );
  return {
    embed,
    /** For searches on somebody's account. */
    of: (userId: string): Meaning => ({
      async vector(model, question) {
        try {
          const [vector] = await embed(userId, model, [question], AbortSignal.timeout(QUESTION_MS));
          return vector;
        } catch (error) {
          log.warn({ err: error, userId, model }, 'a question was searched by words alone');
          return undefined;
        }
      },
      misfit: (collectionId, dimension) =>
        db.asUser(userId, async (tx) => {
          await changed(tx, collectionId, dimension);
          await send(jobs, tx, userId, collectionId);
        }),
    }),
  };
}

type Embed = ReturnType<typeof createEmbed>;

const send = (jobs: Jobs, tx: UserTx, userId: string, collectionId: string) =>
  jobs.send(tx, embedPassagesJob, { userId, collectionId }, { owner: userId, about: collectionId });

/** On the account and the plan of a user. */
function createEmbed({ db, ai }: Pick<MeaningDeps, 'db' | 'ai'>) {
  return async (userId: string, model: string, texts: readonly string[], signal: AbortSignal, agentId?: string) => {
    const payer = await payerOf(db, userId);
    if (!payer?.is_admin && (!isPlan(payer?.plan) || payer.subscription_status !== 'active'))
      throw new AppError(402, 'Active subscription required. Subscribe at /pricing');
    const scope: CallScope = {
      userId,
      ...(agentId !== undefined && { agentId }),
      ...(!payer.is_admin && payer.plan !== null && { plan: payer.plan }),
    };
    const { data } = await ai.embed(model, { input: [...texts] }, { scope, signal });
    return vectorsOf(data, texts.length);
  };
}

/** Another dimension is another generation: what was there before is not compared any more. False: it is given up. */
async function changed(tx: UserTx, collectionId: string, dimension: number): Promise<boolean> {
  const held = await holdEmbedding(tx, collectionId);
  if (!held || held.dimension === dimension) return true;
  const changes = held.changes + (held.dimension === null ? 0 : 1);
  const isOver = changes > MOST_CHANGES;
  await setEmbedding(tx, collectionId, {
    changes,
    generation: held.generation + 1,
    dimension: isOver ? null : dimension,
    meaning_note: isOver ? GIVEN_UP : held.dimension === null ? null : ANEW(held.dimension, dimension),
  });
  return !isOver;
}

interface Which {
  userId: string;
  collectionId: string;
}

/** Some of what has no numbers yet; the rest in a later turn. What fails is told to the owner, and tried again. */
async function embedPassages(
  { db, jobs, embed }: MeaningDeps & { embed: Embed },
  { userId, collectionId }: Which,
  signal: AbortSignal,
): Promise<void> {
  const own = db.user(userId);
  let at = -1;
  for (let n = 0; n < BATCHES; n += 1) {
    const collection = await embeddingOf(own, collectionId);
    if (!collection) return;
    if (collection.embeddings === null) return void (await dropVectors(own, collection.number));
    if (collection.changes > MOST_CHANGES) return;
    const passages = await passagesWithout(own, collection, { after: at, most: BATCH });
    if (passages.length === 0) return ended(own, collectionId, collection);
    const kept = await embedBatch({ db, embed }, { userId, collectionId }, { collection, passages, signal });
    // After a change of the dimension from the beginning.
    at = kept ? passages.at(-1)!.number : -1;
  }
  await db.asUser(userId, async (tx) => void (await send(jobs, tx, userId, collectionId)));
}

/** All have numbers: nothing is left to be said. */
async function ended(tx: UserTx, collectionId: string, { dimension }: Embedding): Promise<void> {
  if (dimension !== null) await setEmbedding(tx, collectionId, { meaning_note: null });
}

interface Batch {
  collection: Embedding;
  passages: readonly { number: number; text: string }[];
  signal: AbortSignal;
}

/** False: they have another dimension than those before, which go. */
async function embedBatch(
  { db, embed }: { db: Database; embed: Embed },
  { userId, collectionId }: Which,
  { collection, passages, signal }: Batch,
): Promise<boolean> {
  const { embeddings, generation } = collection;
  const texts = passages.map(({ text }) => text);
  const time = AbortSignal.any([signal, AbortSignal.timeout(BATCH_MS)]);
  const vectors = await embed(userId, embeddings!, texts, time).catch(async (error: unknown) => {
    const why = error instanceof AppError || error instanceof Misfit ? error.message : 'It did not answer in time.';
    const note = `The embeddings model failed, and is asked again later: ${why} Until then the collection is searched by words.`;
    await setEmbedding(db.user(userId), collectionId, { meaning_note: note });
    throw error;
  });
  return db.asUser(userId, async (tx) => {
    const held = await holdEmbedding(tx, collectionId);
    // Somebody chose another model meanwhile.
    if (!held || held.generation !== generation || held.embeddings !== embeddings) return false;
    const dimension = vectors[0]!.length;
    if (held.dimension !== dimension && !(await changed(tx, collectionId, dimension))) return false;
    const isFirst = held.dimension !== dimension;
    // All of a generation in their order, which searches count on: after a change from the beginning.
    if (isFirst && held.dimension !== null) return false;
    const place = { userId, number: held.number, generation: isFirst ? generation + 1 : generation };
    await keepVectors(
      tx,
      place,
      passages.map(({ number }, index) => ({ number, vector: vectors[index]! })),
    );
    return true;
  });
}
