import { FREE_PLAN, isPlan } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import { type AgentRow, type AllAgents, LimitReached } from '@troupe/roster';

/** Does what makes it run, within the plan: whoever did not count is counted first, or nothing is done. */
export async function withinPlan<T>(roster: AllAgents, agent: AgentRow, work: () => Promise<T>): Promise<T> {
  if (!isPlan(agent.plan)) throw new AppError(FREE_PLAN.status, FREE_PLAN.message, { code: 'PAYMENT_REQUIRED' });
  const isAdmitted = await roster.admit(agent).catch((error: unknown) => {
    if (!(error instanceof LimitReached)) throw error;
    const { current, limit } = error;
    throw new AppError(402, error.message, { code: 'AGENT_LIMIT_REACHED', current, limit });
  });
  try {
    return await work();
  } catch (error) {
    if (isAdmitted) await roster.dismiss(agent);
    throw error;
  }
}
