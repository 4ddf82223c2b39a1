import type { StageActor } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

const LONGEST = 120;
const LONGEST_SAID = 240;
/** Of the last messages, so many are looked at for one of the agent's own. */
const LAST = 5;

type Front = Pick<StageActor, 'id' | 'said' | 'next'>;
type Listed = Omit<StageActor, 'said' | 'next'>;

/** All agents, and of each the conversation that matters most now. Rows are the user's own by row-level security. */
export async function readStage(tx: UserTx, userId: string, limit: number, day: string): Promise<Listed[]> {
  const { rows } = await sql<Listed>`
    with busy as (
      select distinct on (agent_id) id, agent_id, channel, key, status, title, updated_at from agent_sessions
      where user_id = ${userId} and status <> 'idle'
      order by agent_id, status = 'waiting' desc, updated_at desc
    ), spent as (
      select agent_id, sum(cost_micros)::float8 / 1000000 as usd from usage_daily
      where user_id = ${userId} and day = ${day}::date group by 1
    )
    select a.id, a.name, a.tags, t.id as "teamId", t.name as "teamName", b.id as "sessionId",
      case when a.status in ('error', 'failed') then 'trouble' when a.status <> 'running' then 'off'
        when b.status = 'waiting' then 'waits' when b.status = 'open' then 'working' else 'ready' end as state,
      left(coalesce(nullif(b.title, ''), task.name), ${LONGEST}) as about, lead.name as "handedBy",
      iso_text(b.updated_at) as since, coalesce(s.usd, 0) as "spentUsd"
    from agents a
    left join teams t on t.id = a.team_id
    left join busy b on b.agent_id = a.id
    left join spent s on s.agent_id = a.id
    left join scheduled_tasks task on b.channel = 'task' and task.id = split_part(b.key, ':', 1)
    left join agent_sessions above on b.channel = 'team' and above.id = split_part(b.key, ':', 1)
    left join agents lead on lead.id = above.agent_id
    where a.user_id = ${userId}
    order by b.status = 'waiting' desc nulls last, b.status = 'open' desc nulls last, lower(a.name), a.id
    limit ${limit}`.execute(tx);
  return rows;
}

/** Of a few agents the last words and the next task. */
export async function frontOf(tx: UserTx, userId: string, ids: readonly string[]): Promise<Front[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Front>`
    select a.id,
      (select jsonb_build_object('text', left(last.text, ${LONGEST_SAID}), 'at', iso_text(last.at))
        from (select type, at, seq, data ->> 'content' as text from agent_events
          where agent_id = a.id and type in ('user', 'assistant') and not copied and data ->> 'content' <> ''
          order by at desc, seq desc limit ${LAST}) last
        where last.type = 'assistant' order by last.at desc, last.seq desc limit 1) as said,
      (select jsonb_build_object('name', task.name, 'at', iso_text(task.next_run)) from scheduled_tasks task
        where task.agent_id = a.id and task.enabled and task.next_run is not null
        order by task.next_run, task.id limit 1) as next
    from agents a where a.user_id = ${userId} and a.id in (${sql.join(ids)})`.execute(tx);
  return rows;
}

export async function spentOn(tx: UserTx, userId: string, day: string): Promise<number> {
  const { rows } = await sql<{ usd: number }>`
    select coalesce(sum(cost_micros), 0)::float8 / 1000000 as usd from usage_daily
    where user_id = ${userId} and day = ${day}::date`.execute(tx);
  return rows[0]!.usd;
}
