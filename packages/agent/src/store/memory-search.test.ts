import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { testDatabase } from '@troupe/testing/database/server';
import { createPgStore } from './store-pg.ts';
import { createSqliteStore } from './store-sqlite.ts';
import type { AgentStore } from './store.ts';
import { makeAgentRow } from '../testing.ts';

/** Chinese and Japanese, which put no spaces between words, are found as well as other languages. */

async function findsWords(store: AgentStore): Promise<void> {
  const bounds = { maxEntries: 100, ttlDays: 10 };
  const facts = [
    '她最喜欢的饮料是绿茶。',
    '每周五下午三点和财务部开会',
    '港口早上九点开门，晚上六点关门',
    '会議は毎週金曜日の午後三時からです。',
    '好きな飲み物は緑茶、コーヒーは飲まない',
    'Troupe株式会社の請求書は経理へ',
    '祖母住在𠮷田家旁边、茶、花',
    'The harbour opens at nine',
  ];
  for (const content of facts) await store.remember({ scope: 'agent', content }, bounds);
  await store.remember({ scope: 'agent', key: '宠物', content: 'a fox' }, bounds);
  const found = async (query: string) =>
    (await store.recall({ scope: 'agent', query, limit: 10 })).map(({ content }) => content);
  for (const [query, wanted] of [
    ['她喜欢喝绿茶吗？', facts[0]],
    ['财务', facts[1]],
    ['港口几点关门', facts[2]],
    ['金曜日', facts[3]],
    ['コーヒー', facts[4]],
    ['株式会社', facts[5]],
    ['troupe', facts[5]],
    ['請求書はどこへ送る？', facts[5]],
    ['𠮷田', facts[6]],
    ['花', facts[6]],
    ['harbours', facts[7]],
    ['我的宠物', 'a fox'],
  ])
    assert.equal((await found(query!))[0], wanted, query);
  assert.deepEqual(new Set(await found('茶')), new Set([facts[0], facts[4], facts[6]]), 'a word of one character');
  for (const query of ['什么', 'です', '银行']) assert.deepEqual(await found(query), [], query);
  // as long as may be, with hardly a pair twice: a vector of PostgreSQL has room for it
  let code = 1;
  const next = () => (code = (code * 48_271) % 2_147_483_647);
  const long = Array.from({ length: 100_000 }, () => String.fromCodePoint(0x4e00 + (next() % 20_000))).join('');
  await store.remember({ scope: 'agent', content: long }, bounds);
  assert.deepEqual(await found(long.slice(500, 502)), [long]);
}

describe('words that no spaces tell apart', () => {
  test('in PostgreSQL', async (t) => {
    const { db, drop } = await testDatabase();
    t.after(drop);
    await makeAgentRow(db, 'u', 'agent');
    await findsWords(createPgStore({ db, userId: 'u', agentId: 'agent' }));
  });

  test('in SQLite', () => findsWords(createSqliteStore({ file: ':memory:', agentId: 'agent' })));

  test('in an SQLite file of an older version', async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'agent-store-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'agent.db');
    const old = new DatabaseSync(file);
    old.exec(`
      create table memory (
        id text primary key, scope text not null, key text, content text not null,
        created_at text not null, updated_at text not null, expires_at text not null, unique (scope, key)
      );
      create virtual table memory_words using fts5 (key, content, content = 'memory', tokenize = 'unicode61 remove_diacritics 0');
      create trigger memory_added after insert on memory begin
        insert into memory_words (rowid, key, content) values (new.rowid, new.key, new.content);
      end;
      create trigger memory_changed after update on memory begin
        insert into memory_words (memory_words, rowid, key, content) values ('delete', old.rowid, old.key, old.content);
        insert into memory_words (rowid, key, content) values (new.rowid, new.key, new.content);
      end;
      insert into memory values ('m', 'agent:a', null, '她最喜欢的饮料是绿茶', '', '', '9'), ('n', 'agent:a', null, 'Her colour is blue', '', '', '9');`);
    old.close();
    for (const start of ['first', 'second']) {
      const store = createSqliteStore({ file, agentId: 'a' });
      const found = async (query: string) =>
        (await store.recall({ scope: 'agent', query, limit: 5 })).map(({ id }) => id);
      assert.deepEqual([await found('绿茶'), await found('colours')], [['m'], ['n']], start);
      await store.editMemory('n', '每周五开会', { maxEntries: 9, ttlDays: 1 });
      assert.deepEqual([await found('周五'), await found('colours')], [['n'], []], start);
      await store.editMemory('n', 'Her colour is red', { maxEntries: 9, ttlDays: 1 });
      store.close();
    }
  });
});
