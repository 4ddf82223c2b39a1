import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createPgStore, createSqliteStore, tendMeanings, type AgentStore } from '@troupe/agent';
import { newId } from '@troupe/kernel';
import { createPassageSearch } from '@troupe/knowledge';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { finish, printTable } from '../lib/report.ts';
import type { Target } from '../lib/results.ts';
import { byMeaning, threesOf } from './meaning.ts';
import { makeTalks } from './talks.ts';
import { createChance, createWriter } from './words.ts';

/**
 * How often what was meant is among the first ten: memories of dialogues that are made here (see talks.ts), by words and
 * fused with a stand-in for meaning, in both stores; passages asked for in misspelt words; and with BENCH_DIALOGUES, a folder
 * with the dialogues of LoCoMo (JSON files with session_N, session_N_date_time and qa), memories of these. There each turn is a
 * memory, and a question counts as answered when a turn that its authors name as evidence is found. They are not ours to
 * bring (CC BY-NC).
 */

const DIALOGUES = process.env['BENCH_DIALOGUES'];
const USER = 'bench';
const MODEL = 'threes of letters';
const KINDS = ['sqlite', 'postgres'] as const;
type Kind = (typeof KINDS)[number];

interface Dialogue {
  turns: { at: Date; text: string; id: string }[];
  questions: { asked: string; wanted: string[] }[];
}

const madeOnes = (): Dialogue[] =>
  makeTalks(createChance(7)).map(({ turns, questions }) => ({
    turns: turns.map((turn, n) => ({ ...turn, id: String(n) })),
    questions: questions.map(({ asked, turn }) => ({ asked, wanted: [String(turn)] })),
  }));

interface Public extends Record<string, unknown> {
  qa: { question: string; evidence: unknown; category: number }[];
}

/** Questions that nobody could answer (category 5) are left out. */
function readPublic(given: Public): Dialogue {
  const turns: Dialogue['turns'] = [];
  for (let n = 1; given[`session_${n}_date_time`] !== undefined; n += 1) {
    const said = /\d+ \w+,? \d{4}/.exec(String(given[`session_${n}_date_time`]))?.[0];
    const day = new Date(`${said} 12:00 UTC`).getTime();
    const spoken = (given[`session_${n}`] ?? []) as { speaker: string; dia_id: string; text: string }[];
    for (const [index, { speaker, dia_id: id, text }] of spoken.entries())
      turns.push({ at: new Date(day + index * 60_000), text: `${speaker}: ${text}`, id });
  }
  const known = new Set(turns.map(({ id }) => id));
  const questions = given.qa
    .filter(({ category }) => category !== 5)
    .map(({ question, evidence }) => ({
      asked: question,
      wanted: (String(evidence).match(/D\d+:\d+/g) ?? []).filter((turn) => known.has(turn)),
    }));
  return { turns, questions: questions.filter(({ wanted }) => wanted.length > 0) };
}

async function publicOnes(folder: string): Promise<Dialogue[]> {
  const names = (await readdir(folder)).filter((one) => one.endsWith('.json'));
  const texts = await Promise.all(names.toSorted().map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.map((text) => readPublic(JSON.parse(text) as Public));
}

const vectorOf = (text: string): Float32Array => {
  const numbers = Float32Array.from(threesOf(text));
  const length = Math.hypot(...numbers);
  return numbers.map((one) => one / length);
};

async function storeOf({ db }: TestDatabase, kind: Kind, now: () => Date): Promise<AgentStore> {
  const agentId = newId();
  if (kind === 'sqlite') return createSqliteStore({ file: ':memory:', agentId, now });
  await sql`insert into agents (id, user_id, name) values (${agentId}, ${USER}, 'A')`.execute(db.system);
  return createPgStore({ db, userId: USER, agentId, now });
}

interface Found {
  asked: number;
  words: number;
  fused: number;
}

async function recallIn(database: TestDatabase, kind: Kind, { turns, questions }: Dialogue): Promise<Found> {
  let now = new Date();
  const store = await storeOf(database, kind, () => now);
  const turnOf = new Map<string, string>();
  for (const { at, text, id: said } of turns) {
    now = at;
    const bounds = { maxEntries: 100_000, ttlDays: 3650 };
    const { id } = await store.remember({ scope: 'agent', content: text }, bounds);
    turnOf.set(id, said);
  }
  const embed = async (_: string, texts: readonly string[]): Promise<Float32Array[]> => texts.map(vectorOf);
  const turn = { scope: 'agent', model: MODEL, calls: 100, signal: new AbortController().signal } as const;
  while (await tendMeanings({ store, embed }, turn));
  const found: Found = { asked: questions.length, words: 0, fused: 0 };
  for (const { asked: query, wanted } of questions)
    for (const how of ['words', 'fused'] as const) {
      const near = how === 'fused' ? { model: MODEL, vector: vectorOf(query) } : undefined;
      const memories = await store.recall({ scope: 'agent', query, limit: 10, ...(near && { near }) });
      if (memories.some(({ id }) => wanted.includes(turnOf.get(id) ?? ''))) found[how] += 1;
    }
  return found;
}

/** Of 100 questions, over all dialogues. */
async function recallOf(database: TestDatabase, kind: Kind, dialogues: readonly Dialogue[]) {
  const sum: Found = { asked: 0, words: 0, fused: 0 };
  for (const dialogue of dialogues) {
    const found = await recallIn(database, kind, dialogue);
    for (const key of ['asked', 'words', 'fused'] as const) sum[key] += found[key];
  }
  return { questions: sum.asked, words: (100 * sum.words) / sum.asked, fused: (100 * sum.fused) / sum.asked };
}

export async function benchRecall(): Promise<void> {
  const database = await testDatabase();
  await testUser(database.db, USER);
  const random = createChance();
  const { sentence } = createWriter(random);
  const searchPassages = createPassageSearch();
  const meant = await byMeaning({ db: database.db, userId: USER, searchPassages, passage: sentence, random });
  const sets: [name: string, dialogues: Dialogue[]][] = [['made', madeOnes()]];
  if (DIALOGUES !== undefined) sets.push(['public', await publicOnes(DIALOGUES)]);
  const rows: { set: string; store: Kind; questions: number; words: number; fused: number }[] = [];
  for (const [set, dialogues] of sets)
    for (const store of KINDS) rows.push({ set, store, ...(await recallOf(database, store, dialogues)) });
  await database.drop();
  printTable('Memories among the first ten, of 100 questions', rows);
  printTable('Misspelt questions about passages, found of 100', [meant]);
  const targets: Target[] = rows.map(({ set, store, words }) => ({
    figure: `${set}_words_${store}`,
    value: words,
    atLeast: 75,
  }));
  targets.push({ figure: 'misspelt_fused', value: meant.fused, atLeast: meant.words });
  const fused = rows.map(({ set, store, fused: value }) => [`${set}_fused_${store}`, value]);
  finish('knowledge recall', targets, { ...Object.fromEntries(fused), misspelt_words: meant.words });
}
