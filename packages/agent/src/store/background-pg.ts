import { sql, type RawBuilder } from 'kysely';
import { TASK_SHOWN, TASKS_KEPT, type BackgroundStore, type BackgroundTask, type TaskAdded } from './background.ts';
import type { Access } from './pg-access.ts';
import { storable, storableJson as json } from './pg-values.ts';

const columns = (texts: RawBuilder<unknown>) => sql`id, session_id as "sessionId", run_seq as "runSeq",
  member_id as "memberId", member, limits, depth, status, spent, member_session as "memberSession", tells,
  iso_text(created_at) as "createdAt", iso_text(ended_at) as "endedAt", ${texts}`;
const WHOLE = columns(sql`task, result`);
const SHORT = columns(sql`left(task, ${sql.lit(TASK_SHOWN)}) as task, left(result, ${sql.lit(TASK_SHOWN)}) as result`);

/** A lease that ends so much later than now. */
const until = (ttlMs: number) => sql`clock_timestamp() + make_interval(secs => ${ttlMs} / 1000.0)`;

export function pgBackground({ agentId, userId, rows, first, value }: Access): BackgroundStore {
  return {
    addTask: async (task, { ofLead, ofUser }, { owner, ttlMs }) =>
      (await value(sql<{ value: TaskAdded }>`select agent_add_task(${agentId}, ${userId}, ${json(task)}::jsonb,
        ${ofLead}, ${ofUser}, ${TASKS_KEPT}, ${owner}, ${ttlMs}) as value`)) ?? 'gone',
    task: (id) =>
      first(sql<BackgroundTask>`select ${WHOLE} from agent_background where id = ${id} and agent_id = ${agentId}`),
    tasks: ({ limit, offset = 0, sessionId = null, running = false }) =>
      rows(sql<BackgroundTask>`select ${SHORT} from agent_background where agent_id = ${agentId}
        and (${sessionId}::text is null or session_id = ${sessionId}) and (not ${running} or status = 'running')
        order by created_at desc, id limit ${limit} offset ${offset}`),
    placeTask: async (id, memberSession) =>
      (
        await rows(sql`update agent_background set member_session = ${memberSession}
          where id = ${id} and agent_id = ${agentId} and status = 'running' returning id`)
      ).length > 0,
    endTask: async (id, { status, result, spent, tells = true }) =>
      (
        await rows(sql`update agent_background set status = ${status}, result = ${storable(result)},
            spent = ${spent ? json(spent) : null}::jsonb, tells = ${tells}, ended_at = clock_timestamp()
          where id = ${id} and agent_id = ${agentId} and status = 'running' returning id`)
      ).length > 0,
    async settleTask(id) {
      await rows(sql`update agent_background set settled = true, lease_owner = null
        where id = ${id} and agent_id = ${agentId}`);
    },
    takeTasks: ({ owner, ttlMs }, limit) =>
      rows(sql<BackgroundTask>`update agent_background set lease_owner = ${owner}, lease_until = ${until(ttlMs)}
        where id in (select id from agent_background where agent_id = ${agentId} and not settled
          and (lease_owner is null or lease_until < clock_timestamp())
          order by created_at, id limit ${limit} for update skip locked)
        returning ${WHOLE}`),
    async renewTasks({ owner, ttlMs }) {
      await rows(sql`update agent_background set lease_until = ${until(ttlMs)}
        where agent_id = ${agentId} and not settled and lease_owner = ${owner}`);
    },
    async releaseTasks(owner) {
      await rows(sql`update agent_background set lease_owner = null
        where agent_id = ${agentId} and not settled and lease_owner = ${owner}`);
    },
  };
}
