import { createStandIn, replyJson } from '@troupe/ai';
import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { addPassages, holdCollection, keepVectors, setEmbedding, termsOf, vectorsOf } from '@troupe/knowledge';
import type { PassageSearch } from '@troupe/knowledge';
import { sql } from 'kysely';

/**
 * Words against words and meaning, over 2,000 passages of five sentences. A question is six words of a passage, each with one
 * letter replaced: words alone find what was left whole by chance. The numbers come over HTTP from a stand-in that counts
 * hashed threes of letters: it knows what is spelt alike, and nothing of what words mean. It shows that fusing works, and
 * not how good a real model is.
 */

const PASSAGES = 2000;
const QUESTIONS = 200;
const DIMENSION = 512;

export function threesOf(text: string): number[] {
  const numbers = Array.from({ length: DIMENSION }, () => 0);
  for (const word of text.toLowerCase().split(/\W+/))
    for (let at = 0; at + 3 <= word.length + 2; at += 1) {
      let hash = 2_166_136_261;
      for (const letter of ` ${word} `.slice(at, at + 3)) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619);
      numbers[(hash >>> 1) % DIMENSION]! += hash & 1 ? 1 : -1;
    }
  return numbers;
}

interface Given {
  db: Database;
  userId: string;
  searchPassages: PassageSearch;
  passage: () => string;
  random: () => number;
}

export async function byMeaning({ db, userId, searchPassages, passage, random }: Given) {
  const model = await createStandIn(({ body }, response) => {
    const data = (body['input'] as string[]).map((text, index) => ({ index, embedding: threesOf(text) }));
    replyJson(response, { data });
  });
  const embed = async (input: readonly string[]): Promise<Float32Array[]> => {
    const answer = await fetch(model.url, { method: 'POST', body: JSON.stringify({ input }) });
    return vectorsOf(((await answer.json()) as { data: { index: number; embedding: unknown }[] }).data, input.length);
  };
  const texts = Array.from({ length: PASSAGES }, () => Array.from({ length: 5 }, passage).join(' '));
  const collectionId = await fill(db, userId, texts, embed);
  const meaning = {
    vector: async (_: string, question: string) => (await embed([question]))[0],
    misfit: async () => {},
  };
  let [words, fused] = [0, 0];
  for (let n = 0; n < QUESTIONS; n += 1) {
    const text = texts[Math.floor(random() * texts.length)]!;
    const all = text.split(/\W+/).filter((word) => word.length > 4);
    const asked = Array.from({ length: 6 }, () => misspelt(all[Math.floor(random() * all.length)]!, random)).join(' ');
    for (const kind of ['words', 'fused'] as const) {
      const given = kind === 'fused' ? meaning : undefined;
      const hits = await searchPassages(db.user(userId), [collectionId], asked, 10, given);
      if (!hits.some((hit) => hit.text === text)) continue;
      if (kind === 'words') words += 1;
      else fused += 1;
    }
  }
  await model.close();
  return { words: (100 * words) / QUESTIONS, fused: (100 * fused) / QUESTIONS };
}

function misspelt(word: string, random: () => number): string {
  const at = Math.floor(random() * word.length);
  return `${word.slice(0, at)}y${word.slice(at + 1)}`;
}

async function fill(
  db: Database,
  userId: string,
  texts: readonly string[],
  embed: (input: readonly string[]) => Promise<Float32Array[]>,
): Promise<string> {
  const [id, documentId] = [newId(), newId()];
  await sql`insert into knowledge_collections (id, user_id, name, created_at, updated_at)
    values (${id}, ${userId}, 'meaning', now(), now())`.execute(db.system);
  const passages = texts.map((text) => {
    const found = new Map<string, number>();
    const all = termsOf(text);
    for (const term of all) found.set(term, Math.min(255, (found.get(term) ?? 0) + 1));
    const [terms, counts] = [[...found.keys()].join('\n'), String.fromCharCode(...found.values())];
    return { place: '', heading: '', text, terms, counts, words: all.length };
  });
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += 32) vectors.push(...(await embed(texts.slice(at, at + 32))));
  await db.asUser(userId, async (tx) => {
    const { number } = (await holdCollection(tx, id))!;
    await sql`insert into knowledge_documents (id, user_id, collection_id, name, source, state, passages, created_at, updated_at)
      values (${documentId}, ${userId}, ${id}, 'meaning', 'text', 'ready', ${texts.length}, now(), now())`.execute(tx);
    await addPassages(tx, { userId, collection: number, documentId, first: 0 }, passages);
    const words = passages.reduce((sum, one) => sum + one.words, 0);
    await sql`update knowledge_collections set passages = ${texts.length}, words = ${words}, next = ${texts.length}
      where id = ${id}`.execute(tx);
    await keepVectors(
      tx,
      { userId, number, generation: 0 },
      vectors.map((vector, place) => ({ number: place, vector })),
    );
    await setEmbedding(tx, id, { embeddings: 'threes of letters', dimension: DIMENSION });
  });
  return id;
}
