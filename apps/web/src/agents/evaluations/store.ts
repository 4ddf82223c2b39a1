import type { EvaluationChange, EvaluationCheck, EvaluationStub } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { newestTried } from '@troupe/roster';
import { sql } from 'kysely';

/** Two that add at once wait for each other until the transaction ends. */
export const lockEvaluations = (tx: UserTx, userId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`evaluations:${userId}`}, 0))`.execute(tx);

export const listCases = (tx: UserTx, agentId: string) =>
  tx
    .selectFrom('evaluation_cases')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
export type CaseRow = Awaited<ReturnType<typeof listCases>>[number];

export const findCase = (tx: UserTx, agentId: string, id: string) =>
  tx.selectFrom('evaluation_cases').selectAll().where('agent_id', '=', agentId).where('id', '=', id).executeTakeFirst();

/** All others than this one. */
export async function countCases(tx: UserTx, agentId: string, but: string): Promise<{ cases: number; bytes: number }> {
  const { rows } = await sql<{ cases: number; bytes: number }>`
    select count(*)::integer as cases,
      coalesce(sum(octet_length(input) + octet_length(checks::text) + octet_length(stubs::text)), 0)::float8 as bytes
    from evaluation_cases where agent_id = ${agentId} and id <> ${but}`.execute(tx);
  return rows[0]!;
}

export interface CaseValues {
  name: string;
  input: string;
  checks: readonly EvaluationCheck[];
  stubs: readonly EvaluationStub[];
  maxSeconds: number;
}

const columnsOf = ({ name, input, checks, stubs, maxSeconds }: CaseValues) => ({
  name,
  input,
  checks: JSON.stringify(checks),
  stubs: JSON.stringify(stubs),
  max_seconds: maxSeconds,
});

export const addCase = (
  tx: UserTx,
  row: { id: string; userId: string; agentId: string; at: Date },
  values: CaseValues,
) =>
  tx
    .insertInto('evaluation_cases')
    .values({
      ...columnsOf(values),
      id: row.id,
      user_id: row.userId,
      agent_id: row.agentId,
      created_at: row.at,
      updated_at: row.at,
    })
    .execute();

export const changeCase = (tx: UserTx, agentId: string, id: string, values: CaseValues, at: Date) =>
  tx
    .updateTable('evaluation_cases')
    .set({ ...columnsOf(values), revision: sql`revision + 1`, updated_at: at })
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .execute();

export async function removeCase(tx: UserTx, agentId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('evaluation_cases')
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** In a line each, newest first. */
export const listEvaluations = (tx: UserTx, agentId: string, limit: number, id?: string) =>
  tx
    .selectFrom('evaluations as e')
    .select(['e.id', 'e.status', 'e.change', 'e.takes', 'e.taken_at', 'e.not_taken', 'e.created_at', 'e.finished_at'])
    .select((eb) => [
      eb
        .selectFrom('evaluation_results as r')
        .whereRef('r.evaluation_id', '=', 'e.id')
        .select(
          sql<{ cases: number; passed: number; over: number; cost: number }>`json_build_object(
            'cases', count(*), 'passed', count(*) filter (where r.status = 'passed'),
            'over', count(*) filter (where r.status not in ('waiting', 'running')), 'cost', coalesce(sum(r.cost_micros), 0))`.as(
            'sum',
          ),
        )
        .as('sum'),
    ])
    .where('e.agent_id', '=', agentId)
    .$if(id !== undefined, (query) => query.where('e.id', '=', id!))
    .orderBy('e.created_at', 'desc')
    .limit(limit)
    .execute();
export type EvaluationRow = Awaited<ReturnType<typeof listEvaluations>>[number];

/** The one that was over last before another began. */
export const findBefore = (tx: UserTx, agentId: string, createdAt: Date) =>
  newestTried(tx, agentId).where('created_at', '<', createdAt).executeTakeFirst();

export const listResults = (tx: UserTx, evaluationId: string) =>
  tx.selectFrom('evaluation_results').selectAll().where('evaluation_id', '=', evaluationId).orderBy('place').execute();
export type ResultRow = Awaited<ReturnType<typeof listResults>>[number];

export const listRunning = (tx: UserTx) =>
  tx.selectFrom('evaluations').select('agent_id').where('status', '=', 'running').execute();

export interface NewEvaluation {
  id: string;
  userId: string;
  agentId: string;
  definition: object;
  definitionDigest: string;
  casesDigest: string;
  change: EvaluationChange | undefined;
  takes: boolean;
  maxCostMicros: number;
  at: Date;
}

export async function addEvaluation(
  tx: UserTx,
  given: NewEvaluation,
  cases: readonly (CaseRow & { resultId: string })[],
) {
  const { id, userId, agentId, definition, change, takes, at } = given;
  await tx
    .insertInto('evaluations')
    .values({
      id,
      user_id: userId,
      agent_id: agentId,
      status: 'running',
      definition: JSON.stringify(definition),
      definition_digest: given.definitionDigest,
      cases_digest: given.casesDigest,
      change: change ? JSON.stringify(change) : null,
      takes,
      max_cost_micros: BigInt(given.maxCostMicros),
      created_at: at,
    })
    .execute();
  await tx
    .insertInto('evaluation_results')
    .values(
      cases.map((one, place) => ({
        id: one.resultId,
        evaluation_id: id,
        user_id: userId,
        case_id: one.id,
        name: one.name,
        input: one.input,
        checks: JSON.stringify(one.checks),
        stubs: JSON.stringify(one.stubs),
        max_seconds: one.max_seconds,
        place,
        status: 'waiting' as const,
      })),
    )
    .execute();
}

/** All but the newest. */
export const pruneEvaluations = (tx: UserTx, agentId: string, keep: number) =>
  sql`delete from evaluations where agent_id = ${agentId} and status <> 'running' and id in (
    select id from evaluations where agent_id = ${agentId} order by created_at desc offset ${keep})`.execute(tx);

/** What is under way ends by itself: whoever tries it looks. False: it was over before. */
export async function stopEvaluation(tx: UserTx, agentId: string, id: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('evaluations')
    .set({ status: 'stopped', finished_at: at })
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await tx
    .updateTable('evaluation_results')
    .set({ status: 'skipped', error: 'The evaluation was stopped', finished_at: at })
    .where('evaluation_id', '=', id)
    .where('status', '=', 'waiting')
    .execute();
  return true;
}

/** It takes only what its cases have passed with, and there are some. */
export async function isHeld(tx: UserTx, agentId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('evaluation_gates')
    .innerJoin('evaluation_cases', 'evaluation_cases.agent_id', 'evaluation_gates.agent_id')
    .select('evaluation_gates.agent_id')
    .where('evaluation_gates.agent_id', '=', agentId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

export async function setGate(tx: UserTx, userId: string, agentId: string, enabled: boolean): Promise<void> {
  if (enabled)
    await tx
      .insertInto('evaluation_gates')
      .values({ agent_id: agentId, user_id: userId })
      .onConflict((conflict) => conflict.column('agent_id').doNothing())
      .execute();
  else await tx.deleteFrom('evaluation_gates').where('agent_id', '=', agentId).execute();
}
