import { afterStranger, OPEN_TO_ANYBODY, TALKED_IN, type Said, type Talk } from '@troupe/agent';
import type { SystemTx, UserTx } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { sql } from 'kysely';

/** Agents whose memory is worked on, the conversations that facts are taken out of, and the facts. */

export interface Which {
  agentId: string;
  userId: string;
}

/** Agents whose memories have to become numbers; from now on they are not due. */
export async function takeDue(tx: SystemTx, most: number): Promise<Which[]> {
  const { rows } = await sql<Which>`update agent_memory_care set meaning_due = false where agent_id in (
      select agent_id from agent_memory_care where meaning_due order by agent_id limit ${most} for update skip locked)
    returning agent_id as "agentId", user_id as "userId"`.execute(tx);
  return rows;
}

export interface Resting extends Which {
  sessionId: string;
}

/** Conversations that came to rest since the last look. Each is seen once for each time that it does. */
export async function takeResting(
  tx: SystemTx,
  { restSeconds, agents, sessions }: { restSeconds: number; agents: number; sessions: number },
): Promise<Resting[]> {
  const rested = sql`now() - make_interval(secs => ${restSeconds}::integer)`;
  const { rows } = await sql<Resting>`with due as (
      select agent_id, user_id, facts_seen from agent_memory_care where facts and not elsewhere and facts_seen < ${rested}
      order by facts_seen, agent_id limit ${agents} for update skip locked
    ), found as (
      select d.agent_id, d.user_id, s.id, s.updated_at, s.channel from due d cross join lateral (
        select id, updated_at, channel from agent_sessions where agent_id = d.agent_id
          and updated_at > d.facts_seen and updated_at <= ${rested}
        order by updated_at fetch first ${sql.raw(String(sessions))} rows with ties) s
    ), seen as (
      update agent_memory_care c set facts_seen = coalesce((select max(f.updated_at) from found f
        where f.agent_id = c.agent_id having count(*) >= ${sessions}), ${rested})
      from due d where c.agent_id = d.agent_id
    )
    select agent_id as "agentId", user_id as "userId", id as "sessionId" from found
    where channel = any(${TALKED_IN}::text[])`.execute(tx);
  return rows;
}

/** The sentence stands until there is another, or none. */
export const noteFacts = (tx: UserTx | SystemTx, agentId: string, note: string | null) =>
  sql`update agent_memory_care set facts_note = ${note}
    where agent_id = ${agentId} and facts and facts_note is distinct from ${note}`.execute(tx);

/** Agents that run as programs of their own keep conversations and facts themselves; `note` is for those whose team shares one memory. */
export async function markElsewhere(tx: SystemTx, isHere: boolean, note: string): Promise<void> {
  await sql`update agent_memory_care c set elsewhere = not c.elsewhere from agents a
    where a.id = c.agent_id and c.elsewhere <> (not ${isHere}::boolean or a.driver is not null)`.execute(tx);
  await sql`update agent_memory_care set facts_note = case when scope like 'team:%' then ${note} end
    where facts and elsewhere and facts_note is distinct from case when scope like 'team:%' then ${note} end`.execute(
    tx,
  );
}

/**
 * What was said in a conversation since facts were taken out of it: the newest messages, cut. Nothing that tools brought,
 * that somebody else's agent said, or that strangers did.
 */
export async function readTalk(
  tx: UserTx,
  { agentId, sessionId }: { agentId: string; sessionId: string },
  { messages, characters }: { messages: number; characters: number },
): Promise<Talk | undefined> {
  const { rows } = await sql<
    Omit<Talk, 'said'> & { channel: string }
  >`select s.status, s.channel, s.last_seq as "lastSeq",
      -- a backup that was put back has the facts and not how far they go
      coalesce(p.seq, (select max(m.source_seq) from agent_memory m where m.source_session = s.id), 0) as from
    from agent_sessions s left join agent_fact_progress p on p.session_id = s.id
    where s.id = ${sessionId} and s.agent_id = ${agentId} and not exists (select from agent_events e
      where e.session_id = s.id and e.type = 'user' and e.data #>> '{wishes,abilities}' = 'answers')`.execute(tx);
  if (!rows[0]) return undefined;
  const { channel, ...talk } = rows[0];
  const stranger = OPEN_TO_ANYBODY.includes(channel) ? await lastStranger(tx, sessionId, talk.from, channel) : 0;
  const { rows: said } = await sql<Said>`select seq, type as role, left(data ->> 'content', ${characters}) as text, at
    from agent_events where session_id = ${sessionId} and seq > ${Math.max(talk.from, stranger)} and seq <= ${talk.lastSeq} and not copied
      and type in ('user', 'assistant') and not data ? 'background' and data ->> 'content' <> ''
    order by seq desc limit ${messages}`.execute(tx);
  return { ...talk, said: stranger > 0 ? afterStranger(said.toReversed()) : said.toReversed() };
}

/** The newest message of somebody whom the owner does not name; 0: there is none. */
async function lastStranger(tx: UserTx, sessionId: string, after: number, channel: string): Promise<number> {
  const { rows } = await sql<{ seq: number | null }>`select max(seq) as seq from agent_events
    where session_id = ${sessionId} and seq > ${after} and type = 'user' and not data ? 'named'
      and data ->> 'from' like ${`${channel} %`}`.execute(tx);
  return rows[0]?.seq ?? 0;
}

/** How many tokens an agent has used up today. */
export async function tokensToday(tx: UserTx, agentId: string, day: string): Promise<number> {
  const { rows } = await sql<{ tokens: number }>`select tokens::float8 as tokens from agent_days
    where agent_id = ${agentId} and day = ${day}::date`.execute(tx);
  return rows[0]?.tokens ?? 0;
}

export const countTokens = (tx: UserTx, { agentId, userId }: Which, day: string, tokens: number) =>
  sql`insert into agent_days as d (agent_id, user_id, day, tokens) values (${agentId}, ${userId}, ${day}::date, ${tokens})
    on conflict (agent_id, day) do update set tokens = d.tokens + excluded.tokens`.execute(tx);

/** False: somebody has taken out facts of this conversation meanwhile. Held until the transaction ends. */
export async function moveOn(
  tx: UserTx,
  { sessionId, userId }: { sessionId: string; userId: string },
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const { rows } = await sql`insert into agent_fact_progress as p (session_id, user_id, seq)
    select ${sessionId}, ${userId}, ${to}::integer where exists (select from agent_sessions where id = ${sessionId})
    on conflict (session_id) do update set seq = excluded.seq where p.seq = ${from} returning seq`.execute(tx);
  return rows.length > 0;
}

export interface NewFact {
  content: string;
  seq: number;
  at: Date;
  disputes: readonly string[];
}

interface Place extends Which {
  scope: string;
  /** Null: it is the team's. */
  owner: string | null;
  sessionId: string;
  maxEntries: number;
  ttlDays: number;
}

/** Writes facts as memories, as far as there is room: none goes for them. Answers how many there was no room for. */
export async function addFacts(tx: UserTx, place: Place, facts: readonly NewFact[]): Promise<number> {
  const { scope, owner, userId, sessionId, maxEntries, ttlDays } = place;
  // Two conversations of one memory come one after the other, so that both count what is there.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`facts:${scope}`}, 0))`.execute(tx);
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from agent_memory
    where scope = ${scope} and expires_at > now()`.execute(tx);
  const room = Math.max(0, maxEntries - (rows[0]?.n ?? 0));
  const { rows: known } = await sql<{ content: string }>`select content from agent_memory where scope = ${scope}
    and lower(content) = any(${facts.map(({ content }) => content.toLowerCase())}::text[])`.execute(tx);
  const there = new Set(known.map(({ content }) => content.toLowerCase()));
  const fresh = facts.filter(({ content }) => !there.has(content.toLowerCase()));
  for (const { content, seq, at, disputes } of fresh.slice(0, room))
    await sql`insert into agent_memory (id, user_id, agent_id, scope, content, created_at, updated_at, expires_at,
        source_session, source_seq, disputes)
      values (${newId()}, ${userId}, ${owner}, ${scope}, ${content}, ${at}, ${at},
        now() + make_interval(days => ${ttlDays}::integer), ${sessionId}, ${seq},
        (select array_agg(id) from agent_memory where scope = ${scope} and id = any(${disputes}::text[])))`.execute(tx);
  return Math.max(0, fresh.length - room);
}
