import { backend as onBackend, gateway } from '@troupe/contract';
import { MOST_STANDING, standingChoices, type StandingRule } from '@troupe/domain';
import { AppError, iso, type BackendClient, type Clock, type User } from '@troupe/kernel';
import type { AgentRow, Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';

type Call = ReturnType<BackendClient['as']>['call'];

/** What the call says; nothing, where that is no JSON. */
function argumentsOf(args: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(args);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  } catch {
    return {};
  }
}

const isSame = (a: StandingRule, b: StandingRule): boolean =>
  a.tool === b.tool && a.within === b.within && a.folder === b.folder;

/** Writes the rule that a call which waits stands for: no wider than what it could be made of that call. */
export function createStanding({ roster, clock }: { roster: Roster; clock: Clock }) {
  return async (
    call: Call,
    user: User,
    agent: AgentRow,
    { approvalId, within }: { approvalId: string; within: string | null },
  ): Promise<void> => {
    const params = { agentId: agent.id };
    const { approvals } = await reach(call(gateway.conversations.listApprovals, { params }));
    const waiting = approvals.find((one) => one.approvalId === approvalId);
    if (!waiting) throw new AppError(404, 'Approval not found');
    const { tool, args, question, sessionId } = waiting;
    const offered = question ? [] : standingChoices(tool, argumentsOf(args));
    const choice = offered.find((one) => one.within === within);
    if (!choice) throw new AppError(400, 'A rule must hold for the call that waits');
    const rule: StandingRule = { tool, ...choice, since: iso(clock()), from: sessionId };
    const { config } = await roster.of(user.id).definition(agent);
    const rules = config.safety.standing ?? [];
    if (rules.some((one) => isSame(one, rule))) return;
    if (rules.length >= MOST_STANDING)
      throw new AppError(400, `An agent has at most ${MOST_STANDING} rules: remove one in its settings`);
    const body = { config: { safety: { standing: [...rules, rule] } } };
    await reach(call(onBackend.agents.update, { params: { id: agent.id }, body }));
  };
}
