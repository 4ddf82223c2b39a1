import type { SQLInputValue } from 'node:sqlite';
import {
  TASK_SHOWN,
  TASKS_KEPT,
  type BackgroundStore,
  type BackgroundTask,
  type NewTask,
  type TaskBounds,
} from './background.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';
import type { Lease } from './lease.ts';

/** As a row has it. */
type Row = Omit<BackgroundTask, 'limits' | 'spent' | 'tells'> & { limits: string; spent: string | null; tells: number };

const COLUMNS = `id, session_id as sessionId, run_seq as runSeq, member_id as memberId, member, limits, depth, status,
  spent, member_session as memberSession, tells, created_at as createdAt, ended_at as endedAt`;
const WHOLE = `${COLUMNS}, task, result`;
const SHORT = `${COLUMNS}, substr(task, 1, ${TASK_SHOWN}) as task, substr(result, 1, ${TASK_SHOWN}) as result`;

const read = ({ limits, spent, tells, ...row }: Row): BackgroundTask => ({
  ...row,
  limits: JSON.parse(limits) as BackgroundTask['limits'],
  spent: spent === null ? null : (JSON.parse(spent) as BackgroundTask['spent']),
  tells: tells === 1,
});

/** All of a file are one owner's. */
function add(access: SqliteAccess, task: NewTask, { ofLead, ofUser }: TaskBounds, { owner, ttlMs }: Lease) {
  const { first, run, agentId, iso, now } = access;
  const count = (where: string, ...values: SQLInputValue[]): number =>
    first<{ n: number }>(`select count(*) as n from background where ${where}`, ...values)?.n ?? 0;
  if (count('id = ? and agent_id = ?', task.id, agentId) > 0) return 'known';
  if (!first('select 1 from sessions where id = ? and agent_id = ?', task.sessionId, agentId)) return 'gone';
  if (count('agent_id = ? and settled = 0', agentId) >= ofLead) return 'lead';
  if (count(`status = 'running'`) >= ofUser) return 'user';
  const { id, sessionId, runSeq, memberId, member, task: text, limits, depth } = task;
  run(
    `insert into background (id, agent_id, session_id, run_seq, member_id, member, task, limits, depth, lease_owner,
      lease_until, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    agentId,
    sessionId,
    runSeq,
    memberId,
    member,
    text,
    JSON.stringify(limits),
    depth,
    owner,
    now().getTime() + ttlMs,
    iso(),
  );
  run(
    `delete from background where agent_id = ? and settled = 1 and id in (
      select id from background where agent_id = ? order by created_at desc, id limit -1 offset ?)`,
    agentId,
    agentId,
    TASKS_KEPT,
  );
  return 'added';
}

function take(access: SqliteAccess, { owner, ttlMs }: Lease, limit: number): BackgroundTask[] {
  const { all, run, agentId, now } = access;
  const at = now().getTime();
  const free = all<Row>(
    `select ${WHOLE} from background where agent_id = ? and settled = 0 and (lease_owner is null or lease_until < ?)
      order by created_at, id limit ?`,
    agentId,
    at,
    limit,
  );
  for (const { id } of free)
    run('update background set lease_owner = ?, lease_until = ? where id = ?', owner, at + ttlMs, id);
  return free.map(read);
}

export function sqliteBackground(access: SqliteAccess): Sync<BackgroundStore> {
  const { all, first, run, agentId, iso, now, atomically } = access;
  const changed = (sql: string, ...values: SQLInputValue[]): boolean => run(sql, ...values).changes > 0;
  return {
    addTask: (task, bounds, lease) => atomically(() => add(access, task, bounds, lease)),
    task(id) {
      const row = first<Row>(`select ${WHOLE} from background where id = ? and agent_id = ?`, id, agentId);
      return row && read(row);
    },
    tasks: ({ limit, offset = 0, sessionId, running = false }) =>
      all<Row>(
        `select ${SHORT} from background where agent_id = ? and (? is null or session_id = ?)
          and (not ? or status = 'running') order by created_at desc, id limit ? offset ?`,
        agentId,
        sessionId ?? null,
        sessionId ?? null,
        running ? 1 : 0,
        limit,
        offset,
      ).map(read),
    placeTask: (id, memberSession) =>
      changed(
        `update background set member_session = ? where id = ? and agent_id = ? and status = 'running'`,
        memberSession,
        id,
        agentId,
      ),
    endTask: (id, { status, result, spent, tells = true }) =>
      changed(
        `update background set status = ?, result = ?, spent = ?, tells = ?, ended_at = ?
          where id = ? and agent_id = ? and status = 'running'`,
        status,
        result,
        spent ? JSON.stringify(spent) : null,
        tells ? 1 : 0,
        iso(),
        id,
        agentId,
      ),
    settleTask: (id) =>
      void run('update background set settled = 1, lease_owner = null where id = ? and agent_id = ?', id, agentId),
    takeTasks: (lease, limit) => atomically(() => take(access, lease, limit)),
    renewTasks: ({ owner, ttlMs }) =>
      void run(
        'update background set lease_until = ? where agent_id = ? and settled = 0 and lease_owner = ?',
        now().getTime() + ttlMs,
        agentId,
        owner,
      ),
    releaseTasks: (owner) =>
      void run(
        'update background set lease_owner = null where agent_id = ? and settled = 0 and lease_owner = ?',
        agentId,
        owner,
      ),
  };
}
