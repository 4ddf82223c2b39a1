import type { SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

const COLUMNS = [
  'id',
  'task_id',
  'kind',
  'enabled',
  'pattern',
  'sender',
  'after_task',
  'outcome',
  'secret',
  'old_secret_until',
  'problem',
  'last_at',
  'created_at',
] as const;

export type TriggerRow = NonNullable<Awaited<ReturnType<typeof findTrigger>>>;

export const listTriggers = (tx: UserTx, taskId: string) =>
  tx
    .selectFrom('task_triggers')
    .select(COLUMNS)
    .where('task_id', '=', taskId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export const findTrigger = (tx: UserTx, taskId: string, id: string) =>
  tx
    .selectFrom('task_triggers')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('task_id', '=', taskId)
    .forUpdate()
    .executeTakeFirst();

/** How many the user has; two at once wait for each other until the transaction ends. */
export async function countTriggers(tx: UserTx, userId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`triggers:${userId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('task_triggers')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export const agentOf = async (tx: UserTx, taskId: string): Promise<string | undefined> =>
  (await tx.selectFrom('scheduled_tasks').select('agent_id').where('id', '=', taskId).executeTakeFirst())?.agent_id;

/** Whether `later` starts `first` by some way: then `first` must not start `later`. */
export async function leadsTo(tx: UserTx, later: string, first: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive reached (id) as (
      select ${later}::text
      union
      select trigger.task_id from reached join task_triggers trigger on trigger.after_task = reached.id
    )
    select exists (select from reached where id = ${first}) as found`.execute(tx);
  return rows[0]?.found ?? false;
}

export interface NewTrigger {
  id: string;
  task_id: string;
  user_id: string;
  agent_id: string;
  kind: TriggerRow['kind'];
  pattern: string | null;
  sender: string | null;
  after_task: string | null;
  outcome: TriggerRow['outcome'];
  secret: Buffer | null;
  created_at: Date;
}

export const addTrigger = (tx: UserTx, row: NewTrigger) =>
  tx.insertInto('task_triggers').values(row).returning(COLUMNS).executeTakeFirstOrThrow();

interface Change {
  enabled?: boolean;
  /** What comes while it is off is not told of afterwards. */
  seen?: null;
  seen_at?: null;
  created_at?: Date;
  secret?: Buffer;
  old_secret?: Buffer | null;
  old_secret_until?: Date | null;
}

export const changeTrigger = (tx: UserTx, id: string, set: Change) =>
  tx.updateTable('task_triggers').set(set).where('id', '=', id).returning(COLUMNS).executeTakeFirstOrThrow();

export async function removeTrigger(tx: UserTx, taskId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('task_triggers')
    .where('id', '=', id)
    .where('task_id', '=', taskId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** A webhook that is on, whoever's it is: its secret says who may use it. */
export const findHook = (tx: SystemTx, id: string) =>
  tx
    .selectFrom('task_triggers')
    .select(['id', 'task_id', 'user_id', 'secret', 'old_secret', 'old_secret_until'])
    .where('id', '=', id)
    .where('kind', '=', 'webhook')
    .where('enabled', '=', true)
    .executeTakeFirst();

interface Arrived {
  taskId: string;
  triggerId: string | null;
  source: 'webhook' | 'api';
  delivery: string | undefined;
  input: string | null;
}

export interface TakenIn {
  state: 'taken' | 'known' | 'full' | 'off' | 'gone';
  receipt?: string;
}

export async function takeIn(tx: UserTx, arrived: Arrived): Promise<TakenIn> {
  const { taskId, triggerId, source, delivery, input } = arrived;
  const { rows } = await sql<{ taken: TakenIn }>`
    select task_take_in(${taskId}, ${triggerId}, ${source}, ${delivery ?? null}, ${input}, 0) as taken`.execute(tx);
  return rows[0]!.taken;
}
