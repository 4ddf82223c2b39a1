import { backend as onBackend, gateway } from '@troupe/contract';
import { isSameRule, letThrough, standingChoices, type StandingRule } from '@troupe/domain';
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

/** A call that waits, and what rules can be made of it. */
async function waitingCall(call: Call, agentId: string, approvalId: string) {
  const { approvals } = await reach(call(gateway.conversations.listApprovals, { params: { agentId } }));
  const waiting = approvals.find((one) => one.approvalId === approvalId);
  if (!waiting) throw new AppError(404, 'Approval not found');
  const { tool, args, question, sessionId } = waiting;
  return { tool, sessionId, choices: question ? [] : standingChoices(tool, argumentsOf(args)) };
}

/** Writes the rule that a call which waits stands for: no wider than what it could be made of that call. */
export function createStanding({ roster, clock }: { roster: Roster; clock: Clock }) {
  return {
    async add(
      call: Call,
      user: User,
      agent: AgentRow,
      { approvalId, within }: { approvalId: string; within: string | null },
    ): Promise<void> {
      const { tool, sessionId, choices } = await waitingCall(call, agent.id, approvalId);
      const choice = choices.find((one) => one.within === within);
      if (!choice) throw new AppError(400, 'A rule must hold for the call that waits');
      const rule: StandingRule = { tool, ...choice, since: iso(clock()), from: sessionId };
      const { config } = await roster.of(user.id).definition(agent);
      if (config.safety.standing?.some((one) => isSameRule(one, rule))) return;
      // The rule alone: another that is made at the same moment stays beside it.
      await reach(call(onBackend.agents.update, { params: { id: agent.id }, body: { rule } }));
    },

    /** What each rule would have allowed of what was asked lately. */
    async choices(call: Call, agentId: string, approvalId: string) {
      const { tool, choices } = await waitingCall(call, agentId, approvalId);
      const { calls } = await reach(call(gateway.conversations.listAsked, { params: { agentId }, query: { tool } }));
      const asked = calls.map(({ args }) => argumentsOf(args));
      const rules = choices.map((choice) => ({ ...choice, allows: letThrough({ tool, ...choice }, asked) }));
      return { asked: asked.length, rules };
    },
  };
}
