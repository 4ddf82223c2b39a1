import { takeChangeJob, type EvaluationChange, type EvaluationCheck, type EvaluationStub } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import { definitionSchema } from '@troupe/domain';
import type { Fleet, Thinker, Thinking, Trial, Trials } from '@troupe/fleet';
import { AppError, type Clock, type Log, type WorkerPool } from '@troupe/kernel';
import { readPurpose, type Roster } from '@troupe/roster';
import { cut, keptOf } from '../trial-kept.ts';
import { scored } from './scoring.ts';
import * as store from './store.ts';

export interface EvaluationsDeps {
  db: Database;
  jobs: Jobs;
  roster: Roster;
  trials: Trials;
  thinking: (agent: Thinker) => Thinking;
  fleet: Pick<Fleet, 'driver'>;
  pool: WorkerPool;
  clock: Clock;
  log: Log;
}

const LOOK_MS = 2_000;
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const skipped = (error: string): store.Outcome => ({ status: 'skipped', error });

/** What a trial came to, as it is kept. */
function outcomeOf(trial: Trial, { verdicts, tokens, costMicros }: Awaited<ReturnType<typeof scored>>): store.Outcome {
  const isOpen = verdicts.some(({ passed }) => passed === null);
  const isLost = verdicts.some(({ passed }) => passed === false);
  return {
    ...keptOf(trial),
    status: isLost ? 'failed' : isOpen ? 'broken' : 'passed',
    verdicts: verdicts.map(({ passed, says }) => ({ passed, says: cut(says, 500) })),
    tokens: trial.spent.tokens + tokens,
    costMicros: trial.spent.costMicros + costMicros,
  };
}

/** Takes one case up, if it is to be tried: the mark is stored before the agent is asked, so none is paid for twice. */
function createTaking({ db, clock }: EvaluationsDeps) {
  async function allowed(tx: SystemTx, found: store.ForTrial): Promise<store.Outcome | { left: number }> {
    const { agent_id: agentId, evaluation_id: evaluationId } = found;
    const { costMicros, tokens } = await store.spent(tx, { evaluationId, agentId, at: clock() });
    const most = Number(found.max_cost_micros);
    if (costMicros > most || (most > 0 && costMicros === most))
      return skipped(`The evaluation may cost $${(most / 1e6).toFixed(2)}, and that is spent`);
    const { maxTokensPerDay } = definitionSchema.parse(found.definition).config.safety;
    if (tokens >= maxTokensPerDay) return skipped(`The limit of ${maxTokensPerDay} tokens a day is reached`);
    return { left: most - costMicros };
  }

  return (resultId: string): Promise<(store.ForTrial & { left: number }) | { closes?: store.Outcome; of?: string }> =>
    db.asSystem(async (tx) => {
      const found = await store.findForTrial(tx, resultId);
      if (!found) return {};
      const of = found.evaluation_id;
      // Its process ended over it, or is about to: what it cost is paid, and it is not asked again.
      if (found.status === 'running')
        return { of, closes: { status: 'interrupted', error: 'Interrupted: the process that tried it ended' } };
      if (found.status !== 'waiting') return { of };
      if (found.evaluation_status !== 'running') return { of, closes: skipped('The evaluation was stopped') };
      const may = await allowed(tx, found);
      if ('status' in may) return { of, closes: may };
      await store.begin(tx, resultId, clock());
      return { ...found, ...may };
    });
}

/** Looks again and again whether the case is still wanted. */
function watched(deps: EvaluationsDeps, resultId: string, stopping: AbortSignal) {
  const unwanted = new AbortController();
  const timer = setInterval(() => {
    store
      .isUnderWay(deps.db.system, resultId)
      .then((isWanted) => isWanted || unwanted.abort())
      .catch((err: unknown) => deps.log.warn({ err, resultId }, 'could not look whether a case is wanted'));
  }, LOOK_MS);
  return {
    signal: AbortSignal.any([unwanted.signal, stopping]),
    isUnwanted: () => unwanted.signal.aborted,
    end: () => clearInterval(timer),
  };
}

/** Tries one case, whatever becomes of it. */
function createTrying(deps: EvaluationsDeps) {
  const { roster, trials, thinking, pool, log } = deps;
  return async function tried(found: store.ForTrial & { left: number }, stopping: AbortSignal): Promise<store.Outcome> {
    const row = await roster.system.find(found.agent_id);
    if (row?.status !== 'running') return skipped('The agent is not running');
    const definition = definitionSchema.parse(found.definition);
    const watch = watched(deps, found.id, stopping);
    const { input, max_seconds: maxSeconds } = found;
    const stubs = found.stubs as unknown as EvaluationStub[];
    const checks = found.checks as unknown as EvaluationCheck[];
    const maxCostMicros = Math.min(found.left, definition.limits.maxCostMicros);
    try {
      const { signal } = watch;
      const trial = await trials.run({ row, definition, input, stubs, maxSeconds, maxCostMicros, signal });
      if (watch.isUnwanted()) return { ...keptOf(trial), ...skipped('The evaluation was stopped') };
      if (stopping.aborted)
        return { ...keptOf(trial), status: 'interrupted', error: 'Interrupted: the platform was stopped' };
      if (trial.outcome !== 'done')
        return {
          ...keptOf(trial),
          status: 'failed',
          error: trial.reason ?? `It came to no answer within ${maxSeconds} seconds`,
        };
      const modelName = definition.config.model.default;
      const { model } = thinking(row);
      return outcomeOf(
        trial,
        await scored({ pool, owner: found.user_id, model, modelName, signal }, input, trial, checks),
      );
    } catch (error) {
      log.warn({ err: error, resultId: found.id }, 'a case could not be tried');
      return { status: stopping.aborted ? 'interrupted' : 'broken', error: reasonOf(error) };
    } finally {
      watch.end();
    }
  };
}

/** Makes the change that has passed, unless the agent was stopped or is another by now. Twice comes to the same. */
function createTakingOver({ db, roster, fleet, clock }: EvaluationsDeps) {
  return async ({ userId, evaluationId }: { userId: string; evaluationId: string }): Promise<void> => {
    const found = await store.findToTake(db.system, evaluationId, userId);
    const row = found && (await roster.of(userId).find(found.agent_id));
    if (!row) return;
    const refuse = async (not_taken: string): Promise<void> => {
      await store.markTaken(db.system, evaluationId, { not_taken });
    };
    const change = found.change as unknown as EvaluationChange;
    try {
      const whole = { ...change, purpose: readPurpose(change.purpose) };
      const taken = await roster.system.take(row, whole, found.definition_digest);
      if ('refused' in taken) return await refuse(taken.refused);
      await fleet.driver.configure(taken.agent, taken.definition);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return refuse(error.message);
    }
    await store.markTaken(db.system, evaluationId, { taken_at: clock() });
  };
}

export type EvaluationsService = ReturnType<typeof createEvaluations>;

export function createEvaluations(deps: EvaluationsDeps) {
  const { db, jobs, clock } = deps;
  const take = createTaking(deps);
  const tried = createTrying(deps);

  const close = (resultId: string, evaluationId: string, userId: string, outcome: store.Outcome | undefined) =>
    db.asSystem(async (tx) => {
      if (outcome) await store.closeResult(tx, resultId, outcome, clock());
      const ended = await store.finish(tx, evaluationId, clock());
      if (ended?.status === 'passed' && ended.takes)
        await jobs.send(tx, takeChangeJob, { userId, evaluationId }, { owner: userId });
    });

  return {
    async tryCase({ userId, resultId }: { userId: string; resultId: string }, signal: AbortSignal): Promise<void> {
      const found = await take(resultId);
      if (!('left' in found)) {
        if (found.of !== undefined) await close(resultId, found.of, userId, found.closes);
        return;
      }
      await close(resultId, found.evaluation_id, userId, await tried(found, signal));
    },

    takeChange: createTakingOver(deps),
  };
}
