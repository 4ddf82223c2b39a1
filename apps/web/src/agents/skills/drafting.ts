import { gateway, type SessionStep } from '@troupe/contract';
import { AppError, type BackendClient, type User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { draftOf } from './draft.ts';

const RUN_PAGES = 10;
const PAGE = 500;

/** A run as a draft of a skill. */
export function drafting({ roster, backend }: { roster: Roster; backend: BackendClient }) {
  async function stepsOf(user: User, agentId: string, id: string, run: number, address: string) {
    const { call } = backend.as(user, address);
    const steps: SessionStep[] = [];
    for (let page = 0, after = run - 1; page < RUN_PAGES; page += 1) {
      const query = { after, limit: PAGE };
      const { events, hasMore } = await reach(call(gateway.conversations.get, { params: { agentId, id }, query }));
      steps.push(...events);
      if (steps[0]?.seq !== run || steps[0].type !== 'user') throw new AppError(404, 'Run not found');
      const end = steps.findIndex(({ type }) => type === 'run_ended');
      if (end >= 0) return steps.slice(0, end);
      if (!hasMore) throw new AppError(409, 'The run is still going on');
      after = events.at(-1)?.seq ?? after;
    }
    throw new AppError(409, 'The run has too many steps to be written down');
  }

  return {
    async draft(user: User, agentId: string, sessionId: string, run: number, address: string) {
      await roster.of(user.id).get(agentId);
      const { name, description, body } = draftOf(await stepsOf(user, agentId, sessionId, run, address));
      const { writeSkillMd } = await import('@troupe/domain/skill-md');
      return { name, content: writeSkillMd({ name, description, metadata: {}, allowedTools: [] }, body) };
    },
  };
}
