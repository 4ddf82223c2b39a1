import type { SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

/** Holds the user for the rest of the transaction. */
export const holdUser = (tx: SystemTx, id: string) =>
  tx
    .selectFrom('users')
    .select(['email', 'name', 'is_admin', 'erase_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export async function readClosing(tx: SystemTx, userId: string) {
  const { rows } = await sql<{
    erase_at: Date | null;
    credit_micros: bigint;
    agents: bigint;
    tasks: bigint;
    keys: bigint;
    subscribed: boolean;
    only_admin: boolean;
  }>`select u.erase_at, u.credit_micros,
      (select count(*) from agents a where a.user_id = u.id) as agents,
      (select count(*) from scheduled_tasks t where t.user_id = u.id) as tasks,
      (select count(*) from api_keys k where k.user_id = u.id) as keys,
      exists (select from billing_subscriptions s where s.user_id = u.id and s.status in ('active', 'past_due')) as subscribed,
      u.is_admin and not exists (
        select from users o where o.is_admin and o.id <> u.id and o.erase_at is null) as only_admin
    from users u where u.id = ${userId}`.execute(tx);
  return rows[0];
}

/** Addresses whose money on the platform is the user's alone: their keys are kept here. */
export const walletsOf = (tx: SystemTx, userId: string): Promise<{ address: string }[]> =>
  tx
    .selectFrom('wallets')
    .select('address')
    .distinct()
    .where('user_id', '=', userId)
    .where('kind', '!=', 'own')
    .orderBy('address')
    .execute();

export async function setEraseAt(tx: SystemTx, userId: string, at: Date | null): Promise<void> {
  await tx.updateTable('users').set({ erase_at: at }).where('id', '=', userId).execute();
}

/** What lets others in, or tells them. */
export async function endCredentials(tx: SystemTx, userId: string): Promise<void> {
  await tx
    .updateTable('devices')
    .set({ status: 'revoked', token_hash: null, token_sealed: null })
    .where('user_id', '=', userId)
    .where('status', '=', 'approved')
    .execute();
  for (const table of [
    'api_keys',
    'client_grants',
    'installations',
    'webhook_endpoints',
    'task_triggers',
    'conversation_shares',
    'agent_doors',
    'widgets',
    'push_subscriptions',
    'push_messages',
  ] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).execute();
  await tx.deleteFrom('invites').where('user_id', '=', userId).where('used_at', 'is', null).execute();
}

export const agentsOf = async (tx: SystemTx, userId: string): Promise<string[]> =>
  (await tx.selectFrom('agents').select('id').where('user_id', '=', userId).execute()).map(({ id }) => id);

/** All that is theirs goes with the row. What was used and paid stays, under an id that leads to nobody. */
export async function erase(tx: SystemTx, userId: string): Promise<void> {
  for (const table of ['spend_counters', 'spend_reservations', 'installations'] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).execute();
  await tx.deleteFrom('users').where('id', '=', userId).execute();
}

export type Row = Record<string, unknown>;

/** What is exported, as files of that name; the columns tell rows apart and put them in order. */
export const EXPORTED = {
  agents: ['agents', 'id'],
  'agent-versions': ['agent_definitions', 'agent_id', 'version'],
  memory: ['agent_memory', 'id'],
  'to-dos': ['agent_todos', 'id'],
  logs: ['agent_logs', 'id'],
  teams: ['teams', 'id'],
  tasks: ['scheduled_tasks', 'id'],
  'task-runs': ['task_runs', 'id'],
  'task-triggers': ['task_triggers', 'id'],
  widgets: ['widgets', 'id'],
  visitors: ['widget_visitors', 'id'],
  'check-ins': ['heartbeats', 'agent_id'],
  defaults: ['agent_configs', 'user_id'],
  devices: ['devices', 'id'],
  'api-keys': ['api_keys', 'id'],
  programs: ['client_grants', 'id'],
  webhooks: ['webhook_endpoints', 'id'],
  'shared-conversations': ['conversation_shares', 'id'],
  notices: ['notices', 'id'],
  'inbox-marks': ['inbox_marks', 'item'],
  invitations: ['invites', 'id'],
  'linked-accounts': ['account_links', 'id'],
  'signed-in': ['sessions', 'id'],
  'audit-log': ['audit_log', 'id'],
  'usage-by-day': ['usage_daily', 'day', 'agent_id', 'model', 'provider'],
  'tools-by-day': ['usage_tools_daily', 'day', 'agent_id', 'tool_name'],
  caps: ['spend_caps', 'scope', 'scope_id'],
  wallets: ['wallets', 'id'],
  payments: ['agent_payments', 'id'],
  'payment-policies': ['payment_policies', 'agent_id'],
  splits: ['splits', 'id'],
  'split-parts': ['split_parts', 'split_id', 'position'],
  events: ['underground_events', 'id'],
  tickets: ['underground_tickets', 'id'],
  conversations: ['agent_sessions', 'id'],
} as const satisfies Record<string, readonly [table: string, ...keys: string[]]>;

export type ExportedName = keyof typeof EXPORTED;

const PAGE = 200;
/** A step of a conversation may be large. */
const EVENTS = 20;

/** The rows after `last`, of the user whose scope it is. */
export async function pageOf(tx: UserTx, name: ExportedName, last: Row | undefined): Promise<Row[]> {
  const [table, ...keys] = EXPORTED[name] as readonly [string, ...string[]];
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  const after = last ? sql`where (${columns}) > (${sql.join(keys.map((key) => sql`${last[key]}`))})` : sql``;
  const { rows } = await sql<Row>`select * from ${sql.table(table)} ${after} order by ${columns} limit ${PAGE}`.execute(
    tx,
  );
  return rows;
}

export const eventsOf = (tx: UserTx, sessionId: string, after: number): Promise<Row[]> =>
  tx
    .selectFrom('agent_events')
    .select(['seq', 'at', 'data'])
    .where('session_id', '=', sessionId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(EVENTS)
    .execute();

export const profileOf = (tx: UserTx): Promise<Row | undefined> =>
  tx
    .selectFrom('users')
    .select([
      'id',
      'email',
      'name',
      'email_verified_at',
      'plan',
      'subscription_status',
      'credit_micros',
      'referral_code',
    ])
    .select(['notifications', 'created_at'])
    .executeTakeFirst();
