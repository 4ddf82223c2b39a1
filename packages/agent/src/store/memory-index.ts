import type { SQLInputValue } from 'node:sqlite';
import {
  BLOCK,
  addScores,
  countOf,
  createBest,
  createKeptLists,
  entryOf,
  termsOf,
  weightOf,
  without,
  type KeptLists,
  type KnownWords,
} from '@troupe/knowledge';

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
create table if not exists memory_version (one integer primary key, n integer not null);
insert or ignore into memory_version (one, n) values (1, 0);
drop trigger if exists memory_termed;
drop trigger if exists memory_unterm;
drop trigger if exists memory_termed_anew;
drop table if exists memory_terms;
`;

interface Access {
  all: <T>(sql: string, ...values: SQLInputValue[]) => T[];
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the query says what a row is
  first: <T>(sql: string, ...values: SQLInputValue[]) => T | undefined;
  run: (sql: string, ...values: SQLInputValue[]) => unknown;
}

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

function countedIn(
  { key, content, createdAt }: IndexedMemory,
  known?: KnownWords,
): { counts: Map<string, number>; words: number } {
  const terms = [key ?? '', content, dayIn(createdAt)].flatMap((text) => termsOf(text, known));
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, words: Math.max(1, terms.length) };
}

interface Block {
  block: number;
  words: Uint8Array;
}

/** With each change: whoever has kept something of the index reads it anew. */
const changed = ({ run }: Access): unknown => run('update memory_version set n = n + 1 where one = 1');

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
  changed(access);
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
  changed(access);
}

export function clearMemories(access: Access, scope: string): void {
  const { run } = access;
  changed(access);
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
  changed(access);
  run('delete from memory_postings');
  run('delete from memory_blocks');
  run('update memory set place = null');
  for (const { scope } of all<{ scope: string }>('select distinct scope from memory')) indexAnew(access, scope);
}

/** A block at a time: each list is written once. */
function indexAnew(access: Access, scope: string): void {
  const { all, first, run } = access;
  const ids = all<{ id: string }>('select id from memory where scope = ? order by created_at, id', scope);
  const known: KnownWords = new Map();
  const next = first<{ next: number }>('select coalesce(max(place), -1) + 1 as next from memory')!.next;
  for (let from = Math.ceil(next / BLOCK) * BLOCK; ids.length > 0; from += BLOCK) {
    const lists = new Map<string, number[]>();
    const lengths = new Uint8Array(BLOCK);
    for (const [slot, { id }] of ids.splice(0, BLOCK).entries()) {
      const row = first<IndexedMemory>(`select ${INDEXED} from memory where id = ?`, id)!;
      const { counts, words } = countedIn(row, known);
      for (const [term, count] of counts) {
        const list = lists.get(term);
        if (list) list.push(...entryOf(slot, count, words));
        else lists.set(term, [...entryOf(slot, count, words)]);
      }
      lengths[slot] = Math.min(255, Math.ceil(words / 2));
      run('update memory set place = ?, indexed = updated_at where id = ?', from + slot, id);
    }
    const block = from / BLOCK;
    for (const [term, list] of lists)
      run(
        'insert into memory_postings (scope, term, block, postings) values (?, ?, ?, ?)',
        scope,
        term,
        block,
        Uint8Array.from(list),
      );
    run('insert into memory_blocks (scope, block, words) values (?, ?, ?)', scope, block, lengths);
  }
}

/** What was remembered together belongs together: how much those beside count, by how far away they are. */
const BESIDE = [0.4, 0.2];
const AROUND = BESIDE.length;

export interface Wanted {
  scope: string;
  terms: readonly string[];
  /** Whether a term also stands for the words that begin with it. */
  begun: (term: string) => boolean;
  /** Those that have ended before are not found. */
  now: string;
  limit: number;
}

/** Memories that are there, in their order; what has ended is not. */
interface Alive {
  /** Where each place of a block stands in the order; -1: nowhere. */
  at: ReadonlyMap<number, Int32Array>;
  places: Int32Array;
  average: number;
  /** It is so from then on, until the next one ends. */
  from: string;
  until: string | null;
}

function aliveIn({ all, first }: Access, scope: string, now: string): Alive {
  const blocks = all<Block>('select block, words from memory_blocks where scope = ? order by block', scope);
  const byNumber = new Map(blocks.map((one) => [one.block, one.words]));
  const gone = all<{ place: number }>('select place from memory where scope = ? and expires_at <= ?', scope, now);
  for (const { place } of gone) byNumber.get(Math.floor(place / BLOCK))?.fill(0, place % BLOCK, (place % BLOCK) + 1);
  const next = 'select min(expires_at) as until from memory where scope = ? and expires_at > ?';
  const { until } = first<{ until: string | null }>(next, scope, now)!;
  const at = new Map<number, Int32Array>();
  const places = new Int32Array(blocks.length * BLOCK);
  let [count, words] = [0, 0];
  for (const { block, words: halves } of blocks) {
    const order = new Int32Array(BLOCK).fill(-1);
    for (let slot = 0; slot < BLOCK; slot += 1) {
      const half = halves[slot]!;
      if (half === 0) continue;
      order[slot] = count;
      places[count] = block * BLOCK + slot;
      count += 1;
      words += 2 * half;
    }
    at.set(block, order);
  }
  const average = Math.max(1, words / Math.max(1, count));
  return { at, places: places.subarray(0, count), average, from: now, until };
}

interface List {
  block: number;
  postings: Uint8Array;
}

/** What was read of the index, for as long as it is as it was. */
interface Read {
  version: string;
  alive: Map<string, Alive>;
  lists: KeptLists<List>;
  /** Room for scores, of the last question. */
  scores: Float64Array;
}

/** Finds places of the best by BM25, counting what was remembered just before and after them. */
export function createMemoryFinder(access: Access): (wanted: Wanted) => number[] {
  const read: Read = { version: '', alive: new Map(), lists: createKeptLists(), scores: new Float64Array() };
  return (wanted) => {
    const { scope, now } = wanted;
    const version = String(access.first<{ n: number }>('select n from memory_version where one = 1')!.n);
    if (version !== read.version) read.alive.clear();
    read.version = version;
    const kept = read.alive.get(scope);
    const holds = kept && kept.from <= now && (kept.until === null || now < kept.until);
    const alive = holds ? kept : aliveIn(access, scope, now);
    read.alive.set(scope, alive);
    return bestOf(alive, scoresOf(access, read, alive, wanted), wanted.limit);
  };
}

function bestOf({ places }: Alive, scores: Float64Array, limit: number): number[] {
  const best = createBest(limit);
  let least = 0;
  // Room at both ends for those beside the first and the last.
  for (let n = AROUND; n < places.length + AROUND; n += 1) {
    const own = scores[n]!;
    if (own === 0) continue;
    let score = own;
    for (let far = 1; far <= AROUND; far += 1) score += BESIDE[far - 1]! * (scores[n - far]! + scores[n + far]!);
    if (score < least) continue;
    // The newer of two that are as good comes first.
    best.offer(0, -places[n - AROUND]!, score);
    least = best.least();
  }
  return best.take().map(({ number }) => -number);
}

/** Read for one question at most, as of documents: the commonest of its words are left out. */
const MOST_POSTINGS = 120_000;

const lengthOf = (lists: readonly List[]): number => lists.reduce((sum, { postings }) => sum + countOf(postings), 0);

/** Of the rarest terms, as many as may be read; one at least. */
function listsOf(
  { all }: Access,
  { version, lists }: Read,
  memories: number,
  { scope, terms, begun }: Pick<Wanted, 'scope' | 'terms' | 'begun'>,
): List[][] {
  const asked = terms.map((term) => {
    const values = begun(term) ? [scope, term, `${term}\u{10FFFF}`] : [scope, term];
    const where = `scope = ? and ${begun(term) ? 'term >= ? and term < ?' : 'term = ?'}`;
    const key = values.join('\n');
    return { where, values, key, kept: lists.get(key, version) };
  });
  type Asked = (typeof asked)[number];
  const read = ({ where, values, key, kept }: Asked): List[] => {
    if (kept) return kept;
    const found = all<List>(`select block, postings from memory_postings where ${where}`, ...values);
    lists.put(key, version, found);
    return found;
  };
  if (memories * terms.length <= MOST_POSTINGS) return asked.map(read);
  // How long a list is is known without reading it.
  const having = ({ where, values, kept }: Asked): number =>
    kept
      ? lengthOf(kept)
      : all<{ n: number }>(
          `select coalesce(sum(length(postings)), 0) / 4 as n from memory_postings where ${where}`,
          ...values,
        )[0]!.n;
  let room = MOST_POSTINGS;
  return asked
    .map((one) => ({ one, n: having(one) }))
    .toSorted((a, b) => a.n - b.n)
    .filter(({ n }, index) => (room -= n) >= 0 || index === 0)
    .map(({ one }) => read(one));
}

/** In the order of the memories, with room at both ends. */
function scoresOf(
  access: Access,
  read: Read,
  { at, places, average }: Alive,
  wanted: Pick<Wanted, 'scope' | 'terms' | 'begun'>,
): Float64Array {
  const size = places.length + 2 * AROUND;
  if (read.scores.length < size) read.scores = new Float64Array(size);
  const scores = read.scores.fill(0, 0, size);
  const inside = scores.subarray(AROUND);
  for (const lists of listsOf(access, read, places.length, wanted)) {
    const weight = weightOf(places.length, Math.min(places.length, lengthOf(lists)));
    for (const { block, postings } of lists) {
      const order = at.get(block);
      if (order) addScores(postings, { weight, average }, order, inside);
    }
  }
  return scores;
}
