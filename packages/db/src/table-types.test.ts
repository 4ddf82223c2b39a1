import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { printTables } from './table-types.ts';
import { testDatabase } from '@troupe/testing/database/server';

test('tables.gen.ts is what the migrations make: run `npm run db:types`', async () => {
  const { url, drop } = await testDatabase();
  try {
    assert.equal(await readFile(join(import.meta.dirname, 'tables.gen.ts'), 'utf8'), await printTables(url));
  } finally {
    await drop();
  }
});

test('columns become types', async () => {
  const { url, drop } = await testDatabase();
  try {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`
      create type zz_mood as enum ('sad', 'glad');
      create table zz_sample (
        id bigint generated always as identity primary key, name text not null, age int, mood zz_mood not null default 'sad',
        tags text[] not null default '{}', state text not null default 'on' check (state in ('on', 'it''s off')),
        "order" text check ("order" = 'only'), length text check (length(length) > 1 and length <> 'x'),
        kind text not null check (kind in ('a', 'b') or age > 1), size int not null check (size in (1, 2)),
        late text check (late in ('x')), made timestamptz not null default now(), amount bigint not null, extra jsonb);
      alter table zz_sample drop constraint zz_sample_late_check,
        add constraint zz_sample_late_check check (late in ('x')) not valid`);
    await client.end();
    const printed = await printTables(url);
    const body = /  zz_sample: \{\n([^}]+)  \};/
      .exec(printed)?.[1]
      ?.trim()
      .split(/;\n\s*/);
    assert.deepEqual(body, [
      'age: Nullable<number>',
      'amount: Int8',
      'extra: Nullable<Json>',
      'id: GeneratedAlways<bigint>',
      'kind: string',
      'late: Nullable<string>',
      'length: Nullable<string>',
      'made: Default<Timestamp>',
      "mood: Default<'sad' | 'glad'>",
      'name: string',
      "order: Nullable<'only'>",
      'size: number',
      "state: Default<'on' | 'it\\'s off'>",
      'tags: Default<(string)[]>;',
    ]);
  } finally {
    await drop();
  }
});
