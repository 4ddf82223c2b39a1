import { z } from 'zod';
import {
  RAG_CHUNKING_KEYS,
  RAG_KEYS,
  RAG_MEANING_KEYS,
  RAG_RESULT_KEYS,
  RAG_STRATEGY_KEYS,
  RAG_TOOL_KEYS,
} from './format.ts';
import type { Models } from './models.ts';
import { Unfit, type createSieve, type Notes } from './sift.ts';

/** The documents that a team's agents search: each `rag` of a document becomes a collection. */

const path = z.string().trim().min(1).max(1000);
const docs = z.array(path).max(200, 'at most 200 paths');

export const tuningSchema = z.object({
  /** How fast a word that comes again counts less, and how much long passages lose. */
  k1: z.number().min(0).max(10).optional(),
  b: z.number().min(0).max(1).optional(),
  /** Passages that fit less well are left out. */
  threshold: z.number().min(0).max(1000).optional(),
  /** Passages that are shown unless more are asked for. */
  limit: z.int().min(1).max(20).optional(),
  /** Characters of a passage, and those that the next one begins with again. */
  size: z.int().min(200).max(4000).optional(),
  overlap: z.int().min(0).max(1000).optional(),
});
export type Tuning = z.output<typeof tuningSchema>;

export interface TeamCollection {
  name: string;
  description: string;
  instruction?: string;
  /** Files, folders and patterns, from where the document stands. */
  docs: string[];
  tuning?: Tuning;
  /** The model by which it is searched beside the words. */
  embeddings?: string;
}

const strategy = z.object({
  type: z.string(),
  docs: docs.optional(),
  k1: z.number().optional(),
  b: z.number().optional(),
  threshold: z.number().optional(),
  limit: z.int().optional(),
  database: z.unknown().optional(),
  chunking: z.object({ size: z.int().optional(), overlap: z.int().optional() }).optional(),
});

const meaning = z.object({
  embedding_model: z.string().trim().max(200).optional(),
  model: z.string().trim().max(200).optional(),
  similarity_metric: z.string().max(100).optional(),
  limit: z.int().optional(),
  chunking: z.object({ size: z.int().optional(), overlap: z.int().optional() }).optional(),
});

const section = z.strictObject({
  description: z.string().max(500).optional(),
  tool: z
    .object({ description: z.string().max(500).optional(), instruction: z.string().max(4000).optional() })
    .nullish(),
  docs: docs.optional(),
  respect_vcs: z.boolean().optional(),
  strategies: z.array(z.unknown()).max(10).optional(),
  results: z
    .object({
      limit: z.int().optional(),
      deduplicate: z.boolean().optional(),
      fusion: z.object({ strategy: z.string().optional(), k: z.number().optional() }).nullish(),
    })
    .nullish(),
});

const NAME = /^[^\p{C}]{1,80}$/u;
const MOST = 20;
const WORDS = 'bm25';
const MEANING = 'chunked-embeddings';
const BY_MEANING = new Set([MEANING, 'semantic-embeddings']);
/** As a search here has it. */
const BY_RANK = 60;
const BY_ANGLE = new Set(['cosine', 'cosine_similarity']);

type Sieve = ReturnType<typeof createSieve>;

export function collectionsOf(given: unknown, sieve: Sieve, models: Models): TeamCollection[] {
  if (given === undefined || given === null) return [];
  if (typeof given !== 'object' || Array.isArray(given)) throw new Unfit('rag', 'must be sources by their names');
  const entries = Object.entries(given);
  if (entries.length > MOST) throw new Unfit('rag', `at most ${MOST} sources`);
  return entries.map(([name, value]) => {
    const at = `rag.${name.slice(0, 100)}`;
    if (!NAME.test(name)) throw new Unfit(at, 'a source is named by 1 to 80 characters');
    return collectionOf(name, at, value, { ...sieve, models });
  });
}

function parsed<T>(schema: z.ZodType<T>, at: string, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Unfit([at, ...(issue?.path ?? [])].join('.'), issue?.message.trim() ?? '');
}

type Reading = Pick<Sieve, 'keys' | 'notes'> & { models: Models };

function collectionOf(name: string, at: string, value: unknown, reading: Reading): TeamCollection {
  const { keys, notes } = reading;
  const kept = keys(at, value ?? {}, RAG_KEYS) as Record<string, unknown>;
  const sifted = {
    ...kept,
    ...('tool' in kept && { tool: keys(`${at}.tool`, kept['tool'], RAG_TOOL_KEYS) }),
    ...('results' in kept && { results: keys(`${at}.results`, kept['results'], RAG_RESULT_KEYS) }),
  };
  const { tool, docs: shared = [], strategies = [], results, description } = parsed(section, at, sifted);
  const ways = strategies.map((one, index) => strategyOf(one, `${at}.strategies.${index}`, reading));
  const { first, embeddings } = settled(ways, at, notes, results?.limit === undefined);
  const { strategy: merged = 'rrf', k = BY_RANK } = results?.fusion ?? {};
  if (merged !== 'rrf' || k !== BY_RANK)
    notes.lost.push({
      at: `${at}.results.fusion`,
      says: `what is found by words and by meaning is merged by reciprocal rank (${BY_RANK})`,
    });
  if (results?.deduplicate === false)
    notes.lost.push({ at: `${at}.results.deduplicate`, says: 'the same text is shown once' });
  const limit = results?.limit ?? first?.limit;
  const tuning = parsed(tuningSchema, at, { ...first, ...(limit !== undefined && { limit: clamped(limit, 1, 20) }) });
  const all = [...new Set([...shared, ...ways.flatMap((one) => one.docs)])];
  if (embeddings !== undefined)
    notes.toGive.push({
      at: `${at}.strategies`,
      says: `the texts of ${name} and the questions about them go to ${embeddings}, on your account: agree to that, or take the model from the collection`,
    });
  const instruction = tool?.instruction?.trim();
  return {
    name,
    description: tool?.description ?? description ?? '',
    ...(instruction && { instruction }),
    docs: all,
    ...(Object.keys(tuning).length > 0 && { tuning }),
    ...(embeddings !== undefined && { embeddings }),
  };
}

/** What one way to search says of all: of several by words, or by meaning, the first counts. `limits`: theirs are the last word. */
function settled(
  ways: readonly Way[],
  at: string,
  { lost }: Notes,
  limits: boolean,
): { first: Tuning; embeddings: string | undefined } {
  const byWords = ways.filter(({ type }) => type === WORDS);
  const byMeaning = ways.filter(({ embeddings }) => embeddings !== undefined);
  if (byWords.length > 1)
    lost.push({ at: `${at}.strategies`, says: 'the settings of the first search by words count for all' });
  if (byMeaning.length > 1) lost.push({ at: `${at}.strategies`, says: 'the first search by meaning counts for all' });
  const [words, meant] = [byWords[0]?.tuning, byMeaning[0]?.tuning];
  const shared = ['size', 'overlap', ...(limits ? ['limit' as const] : [])] as const;
  if (words && meant && shared.some((name) => meant[name] !== undefined && meant[name] !== words[name]))
    lost.push({ at: `${at}.strategies`, says: 'limit and chunking of the search by words count for that by meaning' });
  return { first: words ?? meant ?? {}, embeddings: byMeaning[0]?.embeddings };
}

const clamped = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

/** One way to search. */
interface Way {
  type: string;
  docs: string[];
  tuning?: Tuning;
  embeddings?: string | undefined;
}

/** What is no search by words or by meaning is named; its documents are searched by words. */
function strategyOf(value: unknown, at: string, reading: Reading): Way {
  const { type, docs: own = [] } = parsed(z.object({ type: z.string().max(100), docs: docs.optional() }), at, value);
  if (type === WORDS) return { type, docs: own, tuning: wordsOf(value, at, reading) };
  if (BY_MEANING.has(type)) return { type, docs: own, ...meaningOf(value as object, at, reading) };
  reading.notes.lost.push({ at: `${at} (${type})`, says: 'documents are found by their words' });
  return { type, docs: own };
}

function wordsOf(value: unknown, at: string, { keys, notes }: Reading): Tuning {
  const kept = keys(at, value, RAG_STRATEGY_KEYS) as Record<string, unknown>;
  const chunks = keys(`${at}.chunking`, kept['chunking'], RAG_CHUNKING_KEYS);
  const { k1, b, threshold, limit, chunking = {} } = parsed(strategy, at, { ...kept, chunking: chunks ?? undefined });
  return tuningOf({ k1, b, threshold, limit, ...chunking }, at, notes);
}

/** Keys that nobody knows are named, too: how a model is asked differs from one to the next. */
function meaningOf(value: object, at: string, { keys, notes, models }: Reading): Pick<Way, 'tuning' | 'embeddings'> {
  const [known, unknown] = [true, false].map((wanted) =>
    Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(RAG_MEANING_KEYS, key) === wanted)),
  ) as [Record<string, unknown>, Record<string, unknown>];
  for (const key of Object.keys(unknown).slice(0, 20))
    notes.lost.push({ at: `${at}.${key.slice(0, 100)}`, says: 'a search by meaning does not have it here' });
  const kept = keys(at, known, RAG_MEANING_KEYS) as Record<string, unknown>;
  const chunks = keys(`${at}.chunking`, kept['chunking'], RAG_CHUNKING_KEYS);
  const read = parsed(meaning, at, { ...kept, chunking: chunks ?? undefined });
  const { embedding_model: named, model = named, similarity_metric: metric, limit, chunking = {} } = read;
  if (metric !== undefined && !BY_ANGLE.has(metric))
    notes.lost.push({ at: `${at}.similarity_metric`, says: 'passages are compared by the angle' });
  const tuning = tuningOf({ limit, ...chunking }, at, notes);
  if (model) return { tuning, embeddings: models.named(model, `${at}.embedding_model`).model };
  notes.lost.push({ at, says: 'it names no model: documents are found by their words' });
  return { tuning };
}

type Settings = { [K in keyof Tuning]: number | undefined };

function tuningOf({ size, overlap, limit, ...rest }: Settings, at: string, notes: Notes): Tuning {
  if (size !== undefined && (size < 200 || size > 4000))
    notes.lost.push({ at: `${at}.chunking.size`, says: 'passages have 200 to 4,000 characters' });
  const given = {
    ...rest,
    limit,
    size: size && clamped(size, 200, 4000),
    overlap: overlap && clamped(overlap, 0, Math.floor((size ?? 1200) / 2)),
  };
  return Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined));
}

/** The sources that an agent names; what is said of them is what it is told of its documents. */
export function searchedBy(
  {
    rag = [],
    toolsets = [],
  }: { rag?: string[] | undefined; toolsets?: readonly { type: string; ref?: string | undefined }[] },
  at: string,
  collections: readonly TeamCollection[],
): TeamCollection[] {
  const refs = toolsets.flatMap(({ type, ref }) => (type === 'rag' && ref !== undefined ? [ref] : []));
  return [...new Set([...rag, ...refs])].map((name) => {
    const found = collections.find((one) => one.name === name);
    if (!found) throw new Unfit(`${at}.rag`, `${name.slice(0, 100)} is not among rag`);
    return found;
  });
}

/** What its owner has to add: the files are not in the document. */
export function filesToGive(collections: readonly TeamCollection[], { toGive }: Notes): void {
  for (const { name, docs: paths } of collections)
    for (const one of paths)
      toGive.push({ at: `rag.${name}.docs`, says: `put ${one} into the collection ${name}, or import it together` });
}

/** As a document has it. */
export const ragYaml = (collections: readonly TeamCollection[]) =>
  Object.fromEntries(
    collections.map(({ name, description, instruction, docs: paths, tuning, embeddings }) => {
      const { size, overlap, ...rest } = tuning ?? {};
      const chunking = { ...(size !== undefined && { size }), ...(overlap !== undefined && { overlap }) };
      const byWords = tuning && { type: WORDS, ...rest, ...(Object.keys(chunking).length > 0 && { chunking }) };
      const byMeaning = embeddings !== undefined && { type: MEANING, embedding_model: embeddings };
      const strategies = [byWords, byMeaning].filter(Boolean);
      const tool = { ...(description !== '' && { description }), ...(instruction && { instruction }) };
      return [
        name,
        { ...(Object.keys(tool).length > 0 && { tool }), docs: paths, ...(strategies.length > 0 && { strategies }) },
      ];
    }),
  );
