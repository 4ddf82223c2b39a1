import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { Marks } from './marks.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

/** A case of the owner's agent, and an evaluation of it that is over. */
export async function addEvaluation(
  db: Database,
  ask: Ask,
  mark: Marks['mark'],
  { userId, agentId }: { userId: string; agentId: string },
) {
  const checks = [{ kind: 'lacks', text: mark('lacks') }];
  const given = { name: mark('case'), input: mark('caseInput'), checks };
  const { id: caseId } = (await ask('POST', `/api/agents/${agentId}/evaluation-cases`, given)) as { id: string };
  const evaluationId = newId();
  const now = new Date();
  await db.system
    .insertInto('evaluations')
    .values({
      id: evaluationId,
      user_id: userId,
      agent_id: agentId,
      status: 'failed',
      definition: JSON.stringify({ instructions: mark('tried') }),
      definition_digest: 'd',
      cases_digest: 'c',
      max_cost_micros: 1n,
      created_at: now,
      finished_at: now,
    })
    .execute();
  await db.system
    .insertInto('evaluation_results')
    .values({
      id: newId(),
      evaluation_id: evaluationId,
      user_id: userId,
      case_id: caseId,
      name: mark('triedCase'),
      input: mark('triedInput'),
      checks: JSON.stringify(checks),
      stubs: '[]',
      max_seconds: 10,
      place: 0,
      status: 'failed',
      answer: mark('triedAnswer'),
      finished_at: now,
    })
    .execute();
  await db.system.insertInto('evaluation_gates').values({ agent_id: agentId, user_id: userId }).execute();
  return { caseId, evaluationId };
}
