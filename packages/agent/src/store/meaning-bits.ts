/** Memories of an SQLite file as numbers: the sign of each for finding the nearest, a byte for each for their order. */
export const MEMORY_MEANINGS = `
create table if not exists memory_models (
  scope text not null, model text not null, dimension integer, changes integer not null, note text,
  primary key (scope, model)
);
create table if not exists memory_vectors (
  id text not null, model text not null, scope text not null, dimension integer not null, made_of text not null,
  bits blob not null, primary key (id, model)
);
drop index if exists memory_vectors_of;
create table if not exists memory_numbers (
  id text not null, model text not null, vector blob not null, primary key (id, model)
);
create trigger if not exists memory_unmeant after delete on memory begin
  delete from memory_vectors where id = old.id;
  delete from memory_numbers where id = old.id;
end;
`;

/** Each has a number, and the newest the highest: what was kept in the process of the others goes on from there. */
export const MEANING_NUMBERS = `
create index if not exists memory_vectors_by on memory_vectors (scope, model, dimension, n);
insert or ignore into memory_version (one, n) values (2, 0);
`;

interface Access {
  first: (sql: string) => unknown;
  run: (sql: string) => unknown;
}

/** Those that a program of another release wrote have none. */
export function numberMeanings({ first, run }: Access): void {
  if (!first('select 1 from memory_vectors where n is null limit 1')) return;
  run('update memory_vectors set n = rowid + (select n from memory_version where one = 2) where n is null');
  run('update memory_version set n = (select max(n) from memory_vectors) where one = 2');
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** In how many bits two differ: a function of the file. */
export function differ(a: unknown, b: unknown): number {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return -1;
  let count = 0;
  for (let at = 0; at < a.length; at += 1) count += ONES[a[at]! ^ b[at]!]!;
  return count;
}

/** As bytes, eight in each. */
export function signsOf(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(vector.length / 8));
  for (const [at, one] of vector.entries()) if (one > 0) bits[at >> 3]! |= 1 << (at & 7);
  return bits;
}
