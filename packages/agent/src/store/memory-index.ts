import { BLOCK, BlockScores, countOf, createBest, entryOf, termsOf, weightOf, without } from '@troupe/knowledge';
import type { Sqlite } from './sqlite.ts';

/**
 * What the memories of an SQLite file are found by: lists as those of documents, for each scope, term and block. A memory
 * keeps its place; `memory_blocks` has half of the words of each place, 0 where there is none.
 */
export const MEMORY_INDEX = `
create index if not exists memory_place on memory (place);
create index if not exists memory_ends on memory (scope, expires_at);
create table if not exists memory_postings (
  scope text not null, term text not null, block integer not null, postings blob not null,
  primary key (scope, term, block)
);
create table if not exists memory_blocks (
  scope text not null, block integer not null, words blob not null, primary key (scope, block)
);
drop trigger if exists memory_termed;
drop trigger if exists memory_unterm;
drop trigger if exists memory_termed_anew;
drop table if exists memory_terms;
`;

type Access = Pick<Sqlite, 'all' | 'first' | 'run'>;

export interface IndexedMemory {
  id: string;
  scope: string;
  key: string | null;
  content: string;
  createdAt: string;
  place: number | null;
}
export const INDEXED = 'id, scope, key, content, created_at as createdAt, place';

/** A day as people write it. */
function dayIn(at: string): string {
  const day = new Date(at);
  if (Number.isNaN(day.getTime())) return '';
  return day.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

function countedIn({ key, content, createdAt }: IndexedMemory): { counts: Map<string, number>; words: number } {
  const terms = [key ?? '', content, dayIn(createdAt)].flatMap((text) => termsOf(text));
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, words: Math.max(1, terms.length) };
}

interface Block {
  block: number;
  words: Uint8Array;
}

const blocksOf = ({ all }: Access, scope: string): Block[] =>
  all<Block>('select block, words from memory_blocks where scope = ? order by block', scope);

/** Half of the words at a place; 0: nothing is there any more. */
function setWords({ first, run }: Access, { scope, place }: { scope: string; place: number }, half: number): void {
  const block = Math.floor(place / BLOCK);
  const before = first<Block>('select block, words from memory_blocks where scope = ? and block = ?', scope, block);
  const words = before ? Uint8Array.from(before.words) : new Uint8Array(BLOCK);
  words[place % BLOCK] = half;
  if (words.some((one) => one > 0))
    run('insert or replace into memory_blocks (scope, block, words) values (?, ?, ?)', scope, block, words);
  else run('delete from memory_blocks where scope = ? and block = ?', scope, block);
}

/** In the transaction that writes the memory. */
export function putMemory(access: Access, row: IndexedMemory): void {
  const { first, run } = access;
  const { scope, id } = row;
  const place = row.place ?? first<{ next: number }>('select coalesce(max(place), -1) + 1 as next from memory')!.next;
  const { counts, words } = countedIn(row);
  for (const [term, count] of counts)
    run(
      // Two joined are a text to SQLite, of the same bytes.
      `insert into memory_postings as p (scope, term, block, postings) values (?, ?, ?, ?)
      on conflict (scope, term, block) do update set postings = cast(p.postings || excluded.postings as blob)`,
      scope,
      term,
      Math.floor(place / BLOCK),
      Uint8Array.from(entryOf(place % BLOCK, count, words)),
    );
  setWords(access, { scope, place }, Math.min(255, Math.ceil(words / 2)));
  run('update memory set place = ?, indexed = updated_at where id = ?', place, id);
}

/** With the row as it was when it was put. */
export function takeMemory(access: Access, row: IndexedMemory): void {
  const { first, run } = access;
  const { scope, place } = row;
  if (place === null) return;
  const at = [scope, Math.floor(place / BLOCK)] as const;
  const where = 'where scope = ? and block = ? and term = ?';
  for (const term of countedIn(row).counts.keys()) {
    const list = first<{ postings: Uint8Array }>(`select postings from memory_postings ${where}`, ...at, term);
    const left = without(list?.postings ?? new Uint8Array(), place % BLOCK, (place % BLOCK) + 1);
    if (left.length > 0) run(`update memory_postings set postings = ? ${where}`, left, ...at, term);
    else run(`delete from memory_postings ${where}`, ...at, term);
  }
  setWords(access, { scope, place }, 0);
}

export function clearMemories({ run }: Access, scope: string): void {
  run('delete from memory_postings where scope = ?', scope);
  run('delete from memory_blocks where scope = ?', scope);
}

/** A file that a program of another release has written to is indexed anew. */
export function catchUp(access: Access): void {
  const { all, first, run } = access;
  const late = first<{ n: number }>(
    'select count(*) as n from memory where place is null or indexed is not updated_at',
  )!.n;
  const known = all<{ words: Uint8Array }>('select words from memory_blocks').reduce(
    (sum, { words }) => sum + words.reduce((count, one) => count + (one > 0 ? 1 : 0), 0),
    0,
  );
  if (late === 0 && known === first<{ n: number }>('select count(*) as n from memory')!.n) return;
  run('delete from memory_postings');
  run('delete from memory_blocks');
  run('update memory set place = null');
  for (const { id } of all<{ id: string }>('select id from memory order by created_at, id'))
    putMemory(access, first<IndexedMemory>(`select ${INDEXED} from memory where id = ?`, id)!);
}

/** What was remembered together belongs together: how much those beside count, by how far away they are. */
const BESIDE = [0.4, 0.2];

export interface Wanted {
  scope: string;
  terms: readonly string[];
  /** Whether a term also stands for the words that begin with it. */
  begun: (term: string) => boolean;
  /** Those that have ended before are not found. */
  now: string;
  limit: number;
}

/** Places of the best by BM25, counting what was remembered just before and after them. */
export function findMemories(access: Access, { scope, terms, begun, now, limit }: Wanted): number[] {
  const blocks = blocksOf(access, scope);
  const gone = access.all<{ place: number }>(
    'select place from memory where scope = ? and expires_at <= ?',
    scope,
    now,
  );
  for (const { place } of gone) {
    const block = blocks.find((one) => one.block === Math.floor(place / BLOCK));
    if (block) block.words[place % BLOCK] = 0;
  }
  const scores = scoresIn(access, blocks, { scope, terms, begun });
  // Places in their order, over all blocks.
  const order: number[] = [];
  for (const [n, { words }] of blocks.entries())
    for (let slot = 0; slot < BLOCK; slot += 1) if (words[slot]! > 0) order.push(n * BLOCK + slot);
  const best = createBest(limit);
  const at = (place: number): number => scores[order[place] ?? -1] ?? 0;
  for (let n = 0; n < order.length; n += 1) {
    const own = at(n);
    if (own === 0) continue;
    let score = own;
    for (let far = 1; far <= BESIDE.length; far += 1) score += BESIDE[far - 1]! * (at(n - far) + at(n + far));
    // The newer of two that are as good comes first.
    if (score >= best.least()) best.offer(0, -order[n]!, score);
  }
  return best.take().map(({ number }) => {
    const { block } = blocks[Math.floor(-number / BLOCK)]!;
    return block * BLOCK + (-number % BLOCK);
  });
}

function scoresIn(
  { all }: Access,
  blocks: readonly Block[],
  { scope, terms, begun }: Pick<Wanted, 'scope' | 'terms' | 'begun'>,
): Float64Array {
  const scores = new Float64Array(blocks.length * BLOCK);
  let [count, words] = [0, 0];
  for (const block of blocks)
    for (const half of block.words) {
      if (half > 0) count += 1;
      words += 2 * half;
    }
  const average = Math.max(1, words / Math.max(1, count));
  const index = new Map(blocks.map(({ block }, n) => [block, n]));
  const found = new BlockScores();
  for (const term of terms) {
    const lists = all<{ block: number; postings: Uint8Array }>(
      `select block, postings from memory_postings where scope = ? and ${begun(term) ? 'term >= ? and term < ?' : 'term = ?'}`,
      scope,
      term,
      ...(begun(term) ? [`${term}\u{10FFFF}`] : []),
    );
    const having = lists.reduce((sum, { postings }) => sum + countOf(postings), 0);
    for (const { block, postings } of lists) {
      const n = index.get(block);
      if (n === undefined) continue;
      found.add(postings, weightOf(count, Math.min(count, having)), average);
      found.take(0, (slot, score) => {
        scores[n * BLOCK + slot]! += score;
        return 0;
      });
    }
  }
  return scores;
}
