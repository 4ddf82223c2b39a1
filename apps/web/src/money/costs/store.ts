import type { Budget } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { COUNTED_PAYMENTS } from '@troupe/domain';
import { sql } from 'kysely';

const DAY_MS = 86_400_000;
const USD = 1_000_000;

export async function agentNames(tx: UserTx, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.selectFrom('agents').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function teamNames(tx: UserTx, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.selectFrom('teams').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** What agents may pay in a day, or without being asked. Rows are the user's own by row-level security. */
export async function readPolicies(tx: UserTx, limit: number, now: Date): Promise<Budget[]> {
  const { rows } = await sql<{
    agent_id: string;
    name: string;
    per_day: number | null;
    approval_above: number | null;
    used: number;
  }>`
    select p.agent_id, a.name, p.per_day::float8 as per_day, p.approval_above::float8 as approval_above, (
      select coalesce(sum(units), 0)::float8 from agent_payments y where y.user_id = p.user_id and y.agent_id = p.agent_id
        and y.status = any (${[...COUNTED_PAYMENTS]}::text[]) and y.created_at > ${new Date(now.getTime() - DAY_MS)}) as used
    from payment_policies p join agents a on a.id = p.agent_id
    where p.per_day is not null or p.approval_above is not null
    order by a.name, p.agent_id limit ${limit}`.execute(tx);
  return rows.map(({ agent_id: agentId, name, per_day: perDay, approval_above: above, used }): Budget => ({
    ...ofAgent('payments', agentId, name),
    unit: 'usd',
    limit: perDay === null ? null : perDay / USD,
    used: used / USD,
    steps: perDay === null ? [] : [{ at: 100, does: 'refuse' }],
    above: above === null ? null : above / USD,
  }));
}

/** How many messages of strangers agents take in a day. */
export async function readDoors(tx: UserTx, limit: number, day: string): Promise<Budget[]> {
  const { rows } = await sql<{ agent_id: string; name: string; messages_per_day: number; used: number }>`
    select d.agent_id, a.name, d.messages_per_day, coalesce((select messages from agent_door_days o
      where o.agent_id = d.agent_id and o.day = ${day}::date and o.sender = ''), 0) as used
    from agent_doors d join agents a on a.id = d.agent_id
    where d.open or cardinality(d.contacts) > 0
    order by a.name, d.agent_id limit ${limit}`.execute(tx);
  return rows.map(({ agent_id: agentId, name, messages_per_day: most, used }): Budget => ({
    ...ofAgent('strangers', agentId, name),
    unit: 'messages',
    limit: most,
    used,
    steps: [{ at: 100, does: 'refuse' }],
    above: null,
  }));
}

const ofAgent = (kind: Budget['kind'], agentId: string, agentName: string) => ({
  kind,
  scope: 'agent' as const,
  agentId,
  agentName,
  period: 'day' as const,
  reserved: null,
  resetsAt: null,
});
