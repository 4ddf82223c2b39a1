import type { FoundConversation, FoundFile } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { inAnyCase } from '@troupe/kernel';
import { sql } from 'kysely';

const MOST_AGENTS = 1000;
const MESSAGES_OF_AN_AGENT = 5_000;
const MESSAGES = 50_000;
/** A word further behind is not found: a message may have 100,000 characters, an answer more. */
const CHARACTERS = 20_000;
const FILES_OF_AN_AGENT = 20_000;
const FILES = 200_000;
/** Whoever has too much for this is told so, and waits no longer. */
const LONGEST_MS = 5_000;

/** Patterns of words; PostgreSQL takes no zero characters. */
const patterns = (words: readonly string[]): string[] =>
  words.map((word) => inAnyCase(word.toWellFormed().replaceAll('\0', '\uFFFD')));

export async function boundTime(tx: UserTx): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(LONGEST_MS)}, true)`.execute(tx);
}

export async function findAgents(tx: UserTx, userId: string, words: readonly string[], limit: number) {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from agents where user_id = ${userId} and name ~ all(${patterns(words)}::text[])
    order by lower(name), id limit ${limit}`.execute(tx);
  return rows;
}

/** Of each conversation the newest message, unless its owner's title has the words. Branches are one conversation. */
export async function findConversations(
  tx: UserTx,
  userId: string,
  words: readonly string[],
  limit: number,
): Promise<FoundConversation[]> {
  const wanted = patterns(words);
  const { rows } = await sql<FoundConversation>`
    with own as (
      select id, name from agents where user_id = ${userId} and driver is null
      order by updated_at desc, id limit ${MOST_AGENTS}
    ), said as (
      select m.session_id, m.seq, m.at, m.content from own cross join lateral (
        select session_id, seq, at, left(data ->> 'content', ${CHARACTERS}) as content from agent_events
        where agent_id = own.id and type in ('user', 'assistant') and not copied and data ->> 'content' <> ''
        order by at desc, seq desc limit ${MESSAGES_OF_AN_AGENT}) m
      limit ${MESSAGES}
    ), found as (
      select s.id, s.root_id, s.updated_at as at, null::integer as seq from own join agent_sessions s on s.agent_id = own.id
      where s.title ~ all(${wanted}::text[])
      union all
      select s.id, s.root_id, m.at, m.seq from said m join agent_sessions s on s.id = m.session_id
      where m.content ~ all(${wanted}::text[])
    ), each as (
      select distinct on (coalesce(root_id, id)) id, at, seq from found
      order by coalesce(root_id, id), seq is null desc, at desc, seq desc
    )
    select s.agent_id as "agentId", own.name as "agentName", s.id as "sessionId", iso_text(each.at) as at, each.seq,
      coalesce(s.title, agent_first_words(s.id), '') as title
    from (select * from each order by seq is null desc, at desc, id limit ${limit}) each
    join agent_sessions s on s.id = each.id join own on own.id = s.agent_id
    order by each.seq is null desc, each.at desc, s.id`.execute(tx);
  return rows;
}

/** Workspaces that are rows; others are on the disk of whoever runs the agent. */
export async function findFiles(
  tx: UserTx,
  userId: string,
  words: readonly string[],
  limit: number,
): Promise<FoundFile[]> {
  const { rows } = await sql<FoundFile>`
    select a.id as "agentId", a.name as "agentName", f.path, f.kind = 'folder' as "isFolder"
    from (
      select t.agent_id, f.path, f.kind, f.changed_at from blob_trees t cross join lateral (
        select path, kind, changed_at from blob_files where tree_id = t.id and kind in ('file', 'folder')
        limit ${FILES_OF_AN_AGENT}) f
      where t.user_id = ${userId} and t.name = 'workspace' limit ${FILES}
    ) f join agents a on a.id = f.agent_id
    where f.path ~ all(${patterns(words)}::text[]) order by f.changed_at desc, f.path limit ${limit}`.execute(tx);
  return rows;
}
