import { casesDigest, AppError } from '@troupe/kernel';
import type { Database } from '@troupe/db';
import type { AgentDefinition } from '@troupe/domain';
import { definitionDigest, isGated, type AgentChange, type AgentRow, type Roster } from '@troupe/roster';
import * as store from './store.ts';

/** Changes of an agent whose owner wants them tried first: a change is taken when all cases, as they are now, have passed with it. */

const CODE = 'CASES_NOT_PASSED';
const UNTRIED =
  'The cases of this agent have not been tried with this change. Try them with it, or save it without a trial';

type NotPassed = Awaited<ReturnType<typeof store.notPassed>>[number];

/** How a case failed, in a sentence. */
function why({ error, verdicts }: NotPassed): string {
  const failed = (verdicts as unknown as { passed: boolean | null; says: string }[]).find(({ passed }) => !passed);
  return failed?.says ?? error ?? 'it did not come to its end';
}

/** It was the gate that refused. */
export const isUntried = (error: unknown): boolean => error instanceof AppError && error.extra['code'] === CODE;

export function createGate({ db, roster }: { db: Database; roster: Roster }) {
  /** Throws 409 and says which case was not passed with what the agent would be. */
  async function passed(agent: AgentRow, next: () => Promise<AgentDefinition> | AgentDefinition): Promise<void> {
    const tx = db.system;
    if (!(await isGated(tx, agent.id))) return;
    const marks = await store.caseMarks(tx, agent.id);
    if (marks.length === 0) return;
    const definition = definitionDigest(await next());
    if (definition === definitionDigest(await roster.system.definition(agent))) return;
    const tried = await store.newestOf(tx, { agentId: agent.id, definition, cases: casesDigest(marks) });
    if (tried?.status === 'passed') return;
    if (!tried) throw new AppError(409, UNTRIED, { code: CODE });
    const failed = await store.notPassed(tx, tried.id);
    const [first] = failed;
    const others = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
    throw new AppError(
      409,
      `With this change the case ${first?.name ?? ''} is not passed${others}: ${first ? why(first) : ''}`,
      { code: CODE, evaluationId: tried.id, failed: failed.map((one) => ({ name: one.name, why: why(one) })) },
    );
  }

  return {
    check: (agent: AgentRow, change: AgentChange): Promise<void> =>
      passed(agent, () => roster.system.preview(agent, change)),
    /** Of a definition that takes the place of the agent's own. */
    checkWhole: (agent: AgentRow, definition: AgentDefinition): Promise<void> => passed(agent, () => definition),
  };
}
