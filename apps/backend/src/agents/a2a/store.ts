import type { PushedTask } from '@troupe/agent';
import type { Database, SystemTx, UserTx } from '@troupe/db';

export interface ConfigRow {
  id: string;
  version: '1.0' | '0.3';
  url: string;
  sealed: Buffer;
}

/** Held until the transaction ends: what happens in the session meanwhile comes after it. */
export const lockSession = (tx: UserTx, { sessionId }: PushedTask) =>
  tx.selectFrom('agent_sessions').select('id').where('id', '=', sessionId).forNoKeyUpdate().executeTakeFirst();

export const putConfig = (tx: UserTx, task: PushedTask, row: ConfigRow, now: Date) =>
  tx
    .insertInto('a2a_push_configs')
    .values({
      ...row,
      session_id: task.sessionId,
      seq: task.seq,
      user_id: task.userId,
      agent_id: task.agentId,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'seq', 'id']).doUpdateSet({ ...row, created_at: now, ended_at: null }),
    )
    .execute();

/** How many of a task there are beside this one. */
export async function countOthers(tx: UserTx, { sessionId, seq }: PushedTask, id: string): Promise<number> {
  const { count } = await tx
    .selectFrom('a2a_push_configs')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('session_id', '=', sessionId)
    .where('seq', '=', seq)
    .where('id', '<>', id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Whether something has happened since the task was given that would have been told. */
export const wouldTell = (tx: UserTx, { sessionId, seq }: PushedTask) =>
  tx
    .selectFrom('agent_events')
    .select('seq')
    .where('session_id', '=', sessionId)
    .where('seq', '>', seq)
    .where('type', 'in', ['run_ended', 'approval_requested'])
    .limit(1)
    .executeTakeFirst();

export const addDelivery = (tx: UserTx, { sessionId, seq, userId }: PushedTask, configId: string) =>
  tx
    .insertInto('a2a_push_deliveries')
    .values({ session_id: sessionId, seq, config_id: configId, user_id: userId })
    .execute();

export const listConfigs = (db: Database, { userId, sessionId, seq }: PushedTask): Promise<ConfigRow[]> =>
  db
    .user(userId)
    .selectFrom('a2a_push_configs')
    .select(['id', 'version', 'url', 'sealed'])
    .where('session_id', '=', sessionId)
    .where('seq', '=', seq)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export const removeConfig = (db: Database, { userId, sessionId, seq }: PushedTask, id: string) =>
  db
    .user(userId)
    .deleteFrom('a2a_push_configs')
    .where('session_id', '=', sessionId)
    .where('seq', '=', seq)
    .where('id', '=', id)
    .execute();

/** Some that nobody has taken up; from now on they are taken. */
export const takeNew = (tx: SystemTx, limit: number, at: Date) =>
  tx
    .updateTable('a2a_push_deliveries')
    .set({ queued_at: at })
    .where('id', 'in', (query) =>
      query
        .selectFrom('a2a_push_deliveries')
        .select('id')
        .where('queued_at', 'is', null)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'user_id'])
    .execute();

export const findDelivery = (db: Database, id: string) =>
  db.system
    .selectFrom('a2a_push_deliveries as d')
    .innerJoin('a2a_push_configs as c', (join) =>
      join.onRef('c.session_id', '=', 'd.session_id').onRef('c.seq', '=', 'd.seq').onRef('c.id', '=', 'd.config_id'),
    )
    .select(['c.session_id', 'c.seq', 'c.user_id', 'c.agent_id', 'c.id', 'c.version', 'c.url', 'c.sealed'])
    .where('d.id', '=', id)
    .executeTakeFirst();

export type Due = NonNullable<Awaited<ReturnType<typeof findDelivery>>>;

/** It was told, or never will be. `isOver`: there will be nothing more to tell of this task. */
export const settle = (db: Database, id: string, { session_id: session, seq, id: config }: Due, isOver: Date | null) =>
  db.asSystem(async (tx) => {
    await tx.deleteFrom('a2a_push_deliveries').where('id', '=', id).execute();
    if (isOver === null) return;
    await tx
      .updateTable('a2a_push_configs')
      .set({ ended_at: isOver })
      .where('session_id', '=', session)
      .where('seq', '=', seq)
      .where('id', '=', config)
      .execute();
  });

export const forgetBefore = (db: Database, then: Date) =>
  db.system.deleteFrom('a2a_push_configs').where('ended_at', '<', then).execute();
