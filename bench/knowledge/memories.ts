import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSqliteStore, type AgentStore } from '@troupe/agent';
import { newId } from '@troupe/kernel';
import { finish, printTable } from '../lib/report.ts';
import { MODEL, questionOf, vectorOf } from './vectors.ts';
import { ask, createChance, createWriter, figuresOf, percentile, rowOf, someOf } from './words.ts';

/**
 * In SQLite there are no documents: there 100,000 texts of 192 words (BENCH_PASSAGES) are memories of an agent, searched as it
 * does, by words, then by words and meaning.
 */

const MEMORIES = Number(process.env['BENCH_PASSAGES'] ?? 100_000);
const AT_ONCE = 1000;
const random = createChance();
const { sentence } = createWriter(random);

/** Put into the file as they are: it is indexed when it is opened. */
function fill(given: { file: string; agentId: string }): { id: string; text: string }[] {
  createSqliteStore(given).close();
  const file = new DatabaseSync(given.file);
  const insert = file.prepare(
    "insert into memory (id, scope, content, created_at, updated_at, expires_at) values (?, 'agent:a', ?, ?, '', '9')",
  );
  const memories: { id: string; text: string }[] = [];
  file.exec('begin');
  for (let n = 0; n < MEMORIES; n += 1) {
    const one = { id: newId(), text: Array.from({ length: 16 }, sentence).join(' ') };
    insert.run(one.id, one.text, new Date(n * 60_000).toISOString());
    // Of most of them the number is enough.
    memories.push(n % 100 === 0 ? one : { id: one.id, text: '' });
  }
  file.exec('commit');
  file.close();
  return memories;
}

async function embedAll(store: AgentStore, memories: readonly { id: string }[]): Promise<void> {
  for (let from = 0; from < memories.length; from += AT_ONCE)
    await store.keepMeanings(
      'agent',
      MODEL,
      memories.slice(from, from + AT_ONCE).map(({ id }, n) => ({ id, mark: '', vector: vectorOf(from + n) })),
    );
}

export async function benchMemories(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-memories-'));
  const given = { file: path.join(folder, 'agent.db'), agentId: 'a' };
  const memories = fill(given);
  const store = createSqliteStore(given);
  const next = (): number => Math.floor((random() * memories.length) / 100) * 100;
  const recall = async (wanted: Omit<Parameters<AgentStore['recall']>[0], 'scope' | 'limit'>): Promise<string[]> =>
    (await store.recall({ scope: 'agent', limit: 10, ...wanted })).map(({ content }) => content);
  const words = await ask((n) => {
    const { text } = memories[next()]!;
    const query = someOf(text, 4 + (n % 5), random);
    return { text, find: () => recall({ query }) };
  });
  const started = performance.now();
  await embedAll(store, memories);
  const embedded = (performance.now() - started) / 1000;
  const both = await ask((n) => {
    const number = next();
    const { text } = memories[number]!;
    const query = someOf(text, 3, random);
    const near = { model: MODEL, vector: questionOf(number, n) };
    return { text, find: () => recall({ query, near }) };
  });
  store.close();
  await rm(folder, { recursive: true });
  printTable(`Search of ${MEMORIES} memories in SQLite, milliseconds`, [
    rowOf('words', words),
    rowOf('words and meaning', both),
  ]);
  finish(
    'knowledge memories',
    [
      { figure: 'words_p95_ms', value: percentile(words.times, 0.95), atMost: 20 },
      { figure: 'meaning_p95_ms', value: percentile(both.times, 0.95), atMost: 20 },
    ],
    { ...figuresOf('words', words), ...figuresOf('meaning', both), vectors_kept_s: embedded },
  );
}
