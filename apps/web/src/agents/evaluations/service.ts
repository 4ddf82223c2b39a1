import {
  MOST_CASES,
  NOT_PASSED_TEXTS,
  tryCaseJob,
  type Evaluation,
  type EvaluationCase,
  type EvaluationChange,
  type EvaluationCheck,
  type EvaluationResult,
  type EvaluationStub,
  type TypesOf,
  type web,
} from '@troupe/contract';
import type { Database, Jobs, UserTx } from '@troupe/db';
import {
  AppError,
  casesDigest,
  iso,
  isoOrNull,
  newId,
  type BackendClient,
  type Clock,
  type User,
} from '@troupe/kernel';
import { definitionDigest, isGated, readPurpose, type AgentRow, type Roster } from '@troupe/roster';
import { namedModels } from '../agents/service.ts';
import type { KnownModels } from '../models/service.ts';
import { stepsOfRun } from '../run-steps.ts';
import { caseOf } from './from-run.ts';
import * as store from './store.ts';

export interface EvaluationsDeps {
  db: Database;
  jobs: Jobs;
  roster: Roster;
  backend: BackendClient;
  models: Pick<KnownModels, 'check'>;
  clock: Clock;
}

/**
 * Changes that no trial can show, as another MCP server or a file that the agent is always shown: where changes have to pass
 * their cases first, such a one has to be insisted on.
 */
export const createUntried =
  ({ db }: { db: Database }) =>
  async (userId: string, agentId: string, force: boolean): Promise<void> => {
    if (force || !(await store.isHeld(db.user(userId), agentId))) return;
    throw new AppError(409, NOT_PASSED_TEXTS[0]!, { code: 'CASES_NOT_PASSED' });
  };
export type Untried = ReturnType<typeof createUntried>;

export type EvaluationsService = ReturnType<typeof createEvaluations>;

type Wanted = TypesOf<typeof web.evaluations.start>['body'];
type Detail = TypesOf<typeof web.evaluations.get>['reply'];

const MB = 1024 * 1024;
/** Of all cases of an agent together: each evaluation keeps them as they were. */
const MOST_BYTES = MB;
/** Evaluations of one user under way; of an agent there is one. */
const MOST_RUNNING = 5;
const KEPT = 10;

const shownCase = (row: store.CaseRow): EvaluationCase => ({
  id: row.id,
  name: row.name,
  input: row.input,
  checks: row.checks as unknown as EvaluationCheck[],
  stubs: row.stubs as unknown as EvaluationStub[],
  maxSeconds: row.max_seconds,
  revision: row.revision,
  updatedAt: iso(row.updated_at),
});

const shown = ({ sum, ...row }: store.EvaluationRow): Evaluation => ({
  id: row.id,
  status: row.status,
  isProposal: row.change !== null,
  takes: row.takes,
  takenAt: isoOrNull(row.taken_at),
  notTaken: row.not_taken,
  cases: sum?.cases ?? 0,
  passed: sum?.passed ?? 0,
  over: sum?.over ?? 0,
  costUsd: (sum?.cost ?? 0) / 1e6,
  createdAt: iso(row.created_at),
  finishedAt: isoOrNull(row.finished_at),
});

function shownResult(row: store.ResultRow, was: EvaluationResult['was']): EvaluationResult {
  const verdicts = row.verdicts as unknown as { passed: boolean | null; says: string }[];
  return {
    caseId: row.case_id,
    name: row.name,
    input: row.input,
    status: row.status,
    was,
    checks: (row.checks as unknown as EvaluationCheck[]).map((check, place) => ({
      check,
      passed: verdicts[place]?.passed ?? null,
      says: verdicts[place]?.says ?? '',
    })),
    answer: row.answer,
    calls: row.calls as unknown as EvaluationResult['calls'],
    error: row.error,
    tokens: row.tokens,
    costUsd: Number(row.cost_micros) / 1e6,
    seconds: row.ms / 1000,
  };
}

/** What an agent is tried with. */
function keeping({ db, roster, backend, clock }: EvaluationsDeps) {
  async function found(tx: UserTx, agentId: string, id: string): Promise<EvaluationCase> {
    const row = await store.findCase(tx, agentId, id);
    if (!row) throw new AppError(404, 'Case not found');
    return shownCase(row);
  }

  async function room(tx: UserTx, userId: string, agentId: string, values: store.CaseValues, but: string) {
    await store.lockEvaluations(tx, userId);
    const { cases, bytes } = await store.countCases(tx, agentId, but);
    if (cases >= MOST_CASES) throw new AppError(409, `An agent has ${MOST_CASES} cases at most`);
    const { input, checks, stubs } = values;
    if (bytes + Buffer.byteLength(input + JSON.stringify([checks, stubs])) > MOST_BYTES)
      throw new AppError(409, `The cases of this agent are too large together (max ${MOST_BYTES / MB} MB)`);
  }

  async function createCase({ id: userId }: User, agentId: string, values: store.CaseValues) {
    await roster.of(userId).get(agentId);
    const id = newId();
    return db.asUser(userId, async (tx) => {
      await room(tx, userId, agentId, values, id);
      await store.addCase(tx, { id, userId, agentId, at: clock() }, values);
      return found(tx, agentId, id);
    });
  }

  return {
    createCase,
    async listCases({ id: userId }: User, agentId: string) {
      await roster.of(userId).get(agentId);
      return { cases: (await store.listCases(db.user(userId), agentId)).map(shownCase), max: MOST_CASES };
    },
    async createCaseFromRun(user: User, agentId: string, from: { sessionId: string; run: number }, address: string) {
      await roster.of(user.id).get(agentId);
      return createCase(user, agentId, caseOf(await stepsOfRun(backend, user, { agentId, ...from }, address)));
    },
    async updateCase({ id: userId }: User, agentId: string, id: string, values: store.CaseValues) {
      await roster.of(userId).get(agentId);
      return db.asUser(userId, async (tx) => {
        await found(tx, agentId, id);
        await room(tx, userId, agentId, values, id);
        await store.changeCase(tx, agentId, id, values, clock());
        return found(tx, agentId, id);
      });
    },
    async removeCase({ id: userId }: User, agentId: string, id: string) {
      await roster.of(userId).get(agentId);
      if (!(await store.removeCase(db.user(userId), agentId, id))) throw new AppError(404, 'Case not found');
      return { success: true as const };
    },
  };
}

/** What was found. */
function reading({ db, roster }: EvaluationsDeps) {
  async function one(userId: string, agentId: string, id: string): Promise<store.EvaluationRow> {
    const [row] = await store.listEvaluations(db.user(userId), agentId, 1, id);
    if (!row) throw new AppError(404, 'Evaluation not found');
    return row;
  }

  async function before(userId: string, agentId: string, { created_at: at }: store.EvaluationRow) {
    const earlier = await store.findBefore(db.user(userId), agentId, at);
    if (!earlier) return { head: null, states: new Map<string, EvaluationResult['was']>() };
    const { id, createdAt, passed, cases, costUsd } = shown(await one(userId, agentId, earlier.id));
    const results = await store.listResults(db.user(userId), id);
    const states = new Map(results.map((result) => [result.case_id, result.status]));
    return { head: { id, createdAt, passed, cases, costUsd }, states };
  }

  return {
    one,
    async list({ id: userId }: User, agentId: string, limit: number) {
      await roster.of(userId).get(agentId);
      const tx = db.user(userId);
      const rows = await store.listEvaluations(tx, agentId, limit);
      return { evaluations: rows.map(shown), isGated: await isGated(tx, agentId) };
    },
    async get({ id: userId }: User, agentId: string, id: string): Promise<Detail> {
      await roster.of(userId).get(agentId);
      const row = await one(userId, agentId, id);
      const { head, states } = await before(userId, agentId, row);
      const results = await store.listResults(db.user(userId), id);
      return {
        ...shown(row),
        change: row.change as EvaluationChange | null,
        results: results.map((result) => shownResult(result, states.get(result.case_id) ?? null)),
        before: head,
      };
    },
  };
}

/** What is tried: the agent as it is, or as it would be. */
function createTried({ roster, models }: EvaluationsDeps) {
  return async (agent: AgentRow, change: EvaluationChange | undefined) => {
    if (!change) return roster.of(agent.user_id).definition(agent);
    const { config, purpose } = change;
    if (config && agent.provider_key === null) await models.check(namedModels({ config }));
    return roster.system.preview(agent, { ...change, purpose: readPurpose(purpose) });
  };
}

export function createEvaluations(deps: EvaluationsDeps) {
  const { db, jobs, roster, clock } = deps;
  const { one, ...read } = reading(deps);
  const triedOf = createTried(deps);

  return {
    ...keeping(deps),
    ...read,

    async start({ id: userId }: User, agentId: string, { change, takes, maxCostUsd }: Wanted): Promise<Evaluation> {
      const agent = await roster.of(userId).get(agentId);
      if (takes && !change) throw new AppError(400, 'takes needs a change');
      const definition = await triedOf(agent, change);
      if (agent.status !== 'running') throw new AppError(409, 'Agent is not running');
      const id = newId();
      await db.asUser(userId, async (tx) => {
        await store.lockEvaluations(tx, userId);
        const cases = (await store.listCases(tx, agentId)).map((row) => ({ ...row, resultId: newId() }));
        if (cases.length === 0) throw new AppError(400, 'This agent has no cases yet');
        const running = await store.listRunning(tx);
        if (running.some((other) => other.agent_id === agentId))
          throw new AppError(409, 'An evaluation of this agent is under way');
        if (running.length >= MOST_RUNNING)
          throw new AppError(409, `Too many evaluations of yours are under way (max ${MOST_RUNNING})`);
        const digests = { definitionDigest: definitionDigest(definition), casesDigest: casesDigest(cases) };
        const maxCostMicros = Math.round(maxCostUsd * 1e6);
        const given = { id, userId, agentId, definition, ...digests, change, takes, maxCostMicros, at: clock() };
        await store.addEvaluation(tx, given, cases);
        await store.pruneEvaluations(tx, agentId, KEPT);
        for (const { resultId } of cases)
          await jobs.send(tx, tryCaseJob, { userId, resultId }, { owner: userId, key: id });
      });
      return shown(await one(userId, agentId, id));
    },

    async stop({ id: userId }: User, agentId: string, id: string): Promise<Evaluation> {
      await roster.of(userId).get(agentId);
      await one(userId, agentId, id);
      await db.asUser(userId, async (tx) => {
        if (await store.stopEvaluation(tx, agentId, id, clock()))
          await jobs.drop(tx, tryCaseJob, { owner: userId, key: id });
      });
      return shown(await one(userId, agentId, id));
    },

    async setGate({ id: userId }: User, agentId: string, enabled: boolean) {
      await roster.of(userId).get(agentId);
      await store.setGate(db.user(userId), userId, agentId, enabled);
      return { isGated: enabled };
    },
  };
}
