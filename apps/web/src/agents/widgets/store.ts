import type { SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

const COLUMNS = [
  'id',
  'user_id',
  'agent_id',
  'public_key',
  'enabled',
  'hosted',
  'origins',
  'title',
  'greeting',
  'colour',
  'scheme',
  'abilities',
  'hands_over',
  'messages_per_hour',
  'daily_cap_micros',
  'retention_days',
  'created_at',
] as const;

export type WidgetRow = NonNullable<Awaited<ReturnType<typeof findWidget>>>;
export type WidgetChange = Partial<Omit<WidgetRow, 'id' | 'user_id' | 'agent_id' | 'created_at'>>;

export const listWidgets = (tx: UserTx, agentId: string) =>
  tx
    .selectFrom('widgets')
    .select(COLUMNS)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export const findWidget = (tx: UserTx, agentId: string, id: string) =>
  tx
    .selectFrom('widgets')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null)
    .executeTakeFirst();

/** How many the agent has; two at once wait for each other until the transaction ends. */
export async function countWidgets(tx: UserTx, agentId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`widgets:${agentId}`}, 0))`.execute(tx);
  return (await listWidgets(tx, agentId)).length;
}

export const addWidget = (tx: UserTx, row: WidgetRow) =>
  tx.insertInto('widgets').values(row).returning(COLUMNS).executeTakeFirstOrThrow();

export const changeWidget = (tx: UserTx, agentId: string, id: string, change: WidgetChange) =>
  tx
    .updateTable('widgets')
    .set(change)
    .where('id', '=', id)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst();

export async function markRemoved(tx: UserTx, agentId: string, id: string, at: Date): Promise<boolean> {
  const gone = await tx
    .updateTable('widgets')
    .set({ enabled: false, removed_at: at })
    .where('id', '=', id)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  return gone.numUpdatedRows > 0n;
}

/** Whoever has the key asks, so nobody is known to ask for. */
export const findOpen = (tx: SystemTx, publicKey: string) =>
  tx
    .selectFrom('widgets')
    .select(COLUMNS)
    .where('public_key', '=', publicKey)
    .where('enabled', '=', true)
    .where('removed_at', 'is', null)
    .executeTakeFirst();

/** Those of these that are still open under these keys. */
export async function stillOpen(tx: SystemTx, keys: readonly string[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('widgets')
    .select('public_key')
    .where('public_key', 'in', keys)
    .where('enabled', '=', true)
    .where('removed_at', 'is', null)
    .execute();
  return new Set(rows.map(({ public_key: key }) => key));
}

/** What the answers of its visitors cost today, and what is set aside for those under way. */
export async function spentToday(tx: UserTx, widgets: readonly string[], now: Date): Promise<Map<string, Spent>> {
  if (widgets.length === 0) return new Map();
  const rows = await tx
    .selectFrom('spend_counters')
    .select(['scope_id', 'used', 'reserved'])
    .where('scope', '=', 'widget')
    .where('scope_id', 'in', widgets)
    .where('since', '=', sql<Date>`spend_since('day', ${now}::timestamptz)`)
    .execute();
  return new Map(rows.map(({ scope_id: id, used, reserved }) => [id, { used, reserved }]));
}

export interface Spent {
  used: bigint;
  reserved: bigint;
}
