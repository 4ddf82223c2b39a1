import type { Ai } from '@troupe/ai';
import { fuse, Misfit, nearness, nearOnes, vectorsOf } from '@troupe/knowledge';
import { AppError } from '@troupe/kernel';
import type { Memory, Scope } from './memory.ts';

/** Memories by meaning: numbers that a model makes of them, in the background. Those of documents are packages/knowledge's. */

/** How a memory stands with a model. */
export interface MeaningState {
  /** Numbers that it makes of a text; null: it has not been asked yet. */
  dimension: number | null;
  /** How often that has changed. */
  changes: number;
  /** A sentence for the owner. */
  note: string | null;
}

export const UNKNOWN_MEANING: MeaningState = { dimension: null, changes: 0, note: null };

/** A memory without numbers; `mark` tells the text from what it may become. */
export interface Unmeant {
  id: string;
  text: string;
  mark: string;
}

export interface MeaningStore {
  meaning: (scope: Scope, model: string) => Promise<MeaningState>;
  setMeaning: (scope: Scope, model: string, state: MeaningState) => Promise<void>;
  /** Those that have no numbers of this model, dimension and text. */
  unmeant: (
    scope: Scope,
    wanted: { model: string; dimension: number | null; most: number },
  ) => Promise<readonly Unmeant[]>;
  /** Those that changed meanwhile are left out. */
  keepMeanings: (
    scope: Scope,
    model: string,
    given: readonly (Pick<Unmeant, 'id' | 'mark'> & { vector: Float32Array })[],
  ) => Promise<void>;
  /** Numbers of models that are not chosen any more. */
  dropMeanings: (scope: Scope, chosen: string | null) => Promise<void>;
}

/** Of a memory that is sent. */
export const MOST_CHARACTERS = 6000;
/** Memories of one call. */
const BATCH = 32;
const BATCH_MS = 60_000;
/** A model that gives another number of values again and again is not asked any more. */
export const MOST_CHANGES = 3;

const ANEW = (from: number, to: number): string =>
  `The embeddings model makes ${to} numbers of a text now, and made ${from} before. The memory is indexed anew; until then it is searched by words.`;
const GIVEN_UP =
  'The embeddings model keeps changing how many numbers it makes of a text. The memory is searched by words; choose another model.';

/** After an answer of so many numbers. */
export function afterAnswer(state: MeaningState, dimension: number): MeaningState {
  if (state.dimension === dimension) return state;
  if (state.dimension === null) return { ...state, dimension, note: null };
  const changes = state.changes + 1;
  return changes > MOST_CHANGES
    ? { dimension: null, changes, note: GIVEN_UP }
    : { dimension, changes, note: ANEW(state.dimension, dimension) };
}

export type Embed = (model: string, texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[]>;

/** On the account that the model's client has. */
export const embedBy =
  (ai: Pick<Ai, 'embed'>): Embed =>
  async (model, texts, signal) =>
    vectorsOf((await ai.embed(model, { input: [...texts] }, { signal })).data, texts.length);

interface Tended {
  scope: Scope;
  /** Null: none is chosen. */
  model: string | null;
  /** Calls of one turn. */
  calls: number;
  signal: AbortSignal;
}

/** Makes numbers of some memories that have none; true: there may be more. What fails is told to the owner, and thrown. */
export async function tendMeanings(
  { store, embed }: { store: MeaningStore; embed: Embed },
  { scope, model, calls, signal }: Tended,
): Promise<boolean> {
  await store.dropMeanings(scope, model);
  if (model === null) return false;
  for (let n = 0; n < calls; n += 1) {
    const state = await store.meaning(scope, model);
    if (state.changes > MOST_CHANGES) return false;
    const some = await store.unmeant(scope, { model, dimension: state.dimension, most: BATCH });
    if (some.length === 0) {
      if (state.note !== null) await store.setMeaning(scope, model, { ...state, note: null });
      return false;
    }
    const time = AbortSignal.any([signal, AbortSignal.timeout(BATCH_MS)]);
    const texts = some.map(({ text }) => text);
    const vectors = await embed(model, texts, time).catch(async (error: unknown) => {
      const why = error instanceof AppError || error instanceof Misfit ? error.message : 'It did not answer in time.';
      const note = `The embeddings model failed, and is asked again later: ${why} Until then the memory is searched by words.`;
      await store.setMeaning(scope, model, { ...state, note });
      throw error;
    });
    const next = afterAnswer(state, vectors[0]!.length);
    if (next !== state) await store.setMeaning(scope, model, next);
    if (next.changes > MOST_CHANGES) return false;
    await store.keepMeanings(
      scope,
      model,
      some.map(({ id, mark }, index) => ({ id, mark, vector: vectors[index]! })),
    );
  }
  return true;
}

/** Looked at for each that is wanted: by words, as both orders become one; by the first signs, and of these by all. */
export const SPARE = 3;
export const LIKELY = 60;
export const LOOKED_AT = 6;

/** Both orders as one; what is far below the nearest is no hit. */
export function fusedMemories(
  words: readonly Memory[],
  found: readonly { memory: Memory; vector: Uint8Array }[],
  { vector, limit }: { vector: Float32Array; limit: number },
): Memory[] {
  const near = nearOnes(found.map(({ memory, vector: bytes }) => ({ memory, near: nearness(vector, bytes) })));
  if (near.length === 0) return words.slice(0, limit);
  const orders = [words, near.slice(0, limit * SPARE).map(({ memory }) => memory)];
  return fuse(orders, ({ id }) => id)
    .slice(0, limit)
    .map(({ one }) => one);
}
