import { pgSkills } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { AppError } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

export type SkillFiles = ReturnType<typeof createSkillFiles>;

/** Skills for agents that run as programs of their own: those that the agent's definition names, and no others. */
export function createSkillFiles({ db, roster }: { db: Database; roster: Roster }) {
  return {
    async fetch(agentId: unknown, userId: string | undefined, digest: string) {
      const visible = visibleTo(roster, userId);
      const agent = typeof agentId === 'string' ? await visible.find(agentId) : undefined;
      if (!agent) throw new AppError(404, 'Agent not found');
      const { skills = [] } = await visible.definition(agent);
      const has = skills.some((skill) => skill.digest === digest);
      const files = has ? await pgSkills({ db, userId: agent.user_id })(digest) : undefined;
      if (!files) throw new AppError(404, 'Skill not found');
      return {
        files: files.map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') })),
      };
    },
  };
}
