import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { printTables } from './table-types.ts';
import { testDatabase } from './testing.ts';

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
        tags text[] not null default '{}', made timestamptz not null default now(), amount bigint not null, extra jsonb)`);
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
      'made: Default<Timestamp>',
      "mood: Default<'sad' | 'glad'>",
      'name: string',
      'tags: Default<(string)[]>;',
    ]);
  } finally {
    await drop();
  }
});
