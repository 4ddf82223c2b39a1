import type { SystemTx } from '@troupe/db';
import { newestTried } from '@troupe/roster';
import { sql } from 'kysely';

/** The case as it was when the evaluation began, with what it is tried on. */
export const findForTrial = (tx: SystemTx, resultId: string) =>
  tx
    .selectFrom('evaluation_results as r')
    .innerJoin('evaluations as e', 'e.id', 'r.evaluation_id')
    .select(['r.id', 'r.evaluation_id', 'r.user_id', 'r.input', 'r.checks', 'r.stubs', 'r.max_seconds', 'r.status'])
    .select(['e.agent_id', 'e.definition', 'e.max_cost_micros', 'e.status as evaluation_status'])
    .where('r.id', '=', resultId)
    .forUpdate('r')
    .executeTakeFirst();
export type ForTrial = NonNullable<Awaited<ReturnType<typeof findForTrial>>>;

export const begin = (tx: SystemTx, resultId: string, at: Date) =>
  tx.updateTable('evaluation_results').set({ status: 'running', started_at: at }).where('id', '=', resultId).execute();

/** What the evaluation has cost so far, and the tokens of all trials of the agent on that day. */
export async function spent(
  tx: SystemTx,
  { evaluationId, agentId, at }: { evaluationId: string; agentId: string; at: Date },
): Promise<{ costMicros: number; tokens: number }> {
  const { rows } = await sql<{ costMicros: number; tokens: number }>`
    select coalesce((select sum(cost_micros) from evaluation_results where evaluation_id = ${evaluationId}), 0)::float8
        as "costMicros",
      coalesce((select trial_tokens from agent_days where agent_id = ${agentId} and day = ${dayOf(at)}), 0)::float8
        as tokens`.execute(tx);
  return rows[0] ?? { costMicros: 0, tokens: 0 };
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Only the newest evaluations are kept: what they used is written down beside them. */
const countTokens = (tx: SystemTx, resultId: string, tokens: number, at: Date) =>
  sql`insert into agent_days as d (agent_id, user_id, day, tokens, trial_tokens)
    select e.agent_id, e.user_id, ${dayOf(at)}::date, 0, ${tokens}::bigint
    from evaluation_results r join evaluations e on e.id = r.evaluation_id where r.id = ${resultId}
    on conflict (agent_id, day) do update set trial_tokens = d.trial_tokens + excluded.trial_tokens`.execute(tx);

/** Nobody stopped it, and its agent is there. */
export async function isUnderWay(tx: SystemTx, resultId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('evaluation_results as r')
    .innerJoin('evaluations as e', 'e.id', 'r.evaluation_id')
    .select('r.id')
    .where('r.id', '=', resultId)
    .where('r.status', '=', 'running')
    .where('e.status', '=', 'running')
    .executeTakeFirst();
  return found !== undefined;
}

export interface Outcome {
  status: 'passed' | 'failed' | 'broken' | 'interrupted' | 'skipped';
  error?: string;
  answer?: string;
  verdicts?: readonly { passed: boolean | null; says: string }[];
  calls?: readonly { tool: string; args: string; isError: boolean; isRun: boolean }[];
  tokens?: number;
  costMicros?: number;
  ms?: number;
}

/** Once: what is over stays as it is. */
export async function closeResult(tx: SystemTx, resultId: string, outcome: Outcome, at: Date): Promise<void> {
  const {
    status,
    error = null,
    answer = null,
    verdicts = [],
    calls = [],
    tokens = 0,
    costMicros = 0,
    ms = 0,
  } = outcome;
  const closed = await tx
    .updateTable('evaluation_results')
    .set({
      status,
      error,
      answer,
      verdicts: JSON.stringify(verdicts),
      calls: JSON.stringify(calls),
      tokens: Math.round(tokens),
      cost_micros: BigInt(Math.round(costMicros)),
      ms: Math.round(ms),
      finished_at: at,
    })
    .where('id', '=', resultId)
    .where('status', 'in', ['waiting', 'running'])
    .executeTakeFirst();
  if (closed.numUpdatedRows > 0n && tokens > 0) await countTokens(tx, resultId, Math.round(tokens), at);
}

/** When nothing of it is left to do. Undefined: there is, or it was over before. */
export async function finish(tx: SystemTx, evaluationId: string, at: Date) {
  // Two that close their last cases at once come one after the other.
  const held = await tx
    .selectFrom('evaluations')
    .select(['status', 'takes'])
    .where('id', '=', evaluationId)
    .forUpdate()
    .executeTakeFirst();
  if (held?.status !== 'running') return undefined;
  const { rows } = await sql<{ open: number; bad: number }>`
    select count(*) filter (where status in ('waiting', 'running'))::integer as open,
      count(*) filter (where status <> 'passed')::integer as bad
    from evaluation_results where evaluation_id = ${evaluationId}`.execute(tx);
  const { open, bad } = rows[0]!;
  if (open > 0) return undefined;
  const status = bad === 0 ? ('passed' as const) : ('failed' as const);
  await tx.updateTable('evaluations').set({ status, finished_at: at }).where('id', '=', evaluationId).execute();
  return { status, takes: held.takes };
}

export const findToTake = (tx: SystemTx, evaluationId: string, userId: string) =>
  tx
    .selectFrom('evaluations')
    .select(['agent_id', 'change', 'definition_digest'])
    .where('id', '=', evaluationId)
    .where('user_id', '=', userId)
    .where('status', '=', 'passed')
    .where('takes', '=', true)
    .where('taken_at', 'is', null)
    .where('not_taken', 'is', null)
    .executeTakeFirst();

export const markTaken = (tx: SystemTx, evaluationId: string, values: { taken_at?: Date; not_taken?: string }) =>
  tx.updateTable('evaluations').set(values).where('id', '=', evaluationId).execute();

export const caseMarks = (tx: SystemTx, agentId: string) =>
  tx.selectFrom('evaluation_cases').select(['id', 'revision']).where('agent_id', '=', agentId).execute();

/** The newest that is over, of these cases with this definition. */
export const newestOf = (
  tx: SystemTx,
  { agentId, definition, cases }: { agentId: string; definition: string; cases: string },
) =>
  newestTried(tx, agentId)
    .where('definition_digest', '=', definition)
    .where('cases_digest', '=', cases)
    .executeTakeFirst();

export const notPassed = (tx: SystemTx, evaluationId: string) =>
  tx
    .selectFrom('evaluation_results')
    .select(['name', 'status', 'error', 'verdicts'])
    .where('evaluation_id', '=', evaluationId)
    .where('status', '<>', 'passed')
    .orderBy('place')
    .execute();
