import { z } from 'zod';
import type { TeamMember } from '@troupe/domain';
import { failed, tool, type Tool } from './tool.ts';
import type { Peers } from './transfer-task.ts';

const ARGS = z.object({ agent: z.string().max(200).describe('Name of the agent') });

/** Hands the conversation to another agent of the team, which answers from then on. */
export function handoffTools(targets: readonly TeamMember[], peers: Peers): Tool[] {
  if (targets.length === 0) return [];
  const names = targets.map(({ name }) => name).join(', ');
  const about = targets.map(({ name, description, role }) => `${name}: ${description || role}`).join('; ');
  return [
    tool({
      name: 'handoff',
      toolset: 'handoff',
      description: `Hand this conversation over for good: the other agent sees all of it and answers from then on. Agents: ${about.slice(0, 4000)}`,
      args: ARGS,
      repeatable: true,
      async run({ agent: name }) {
        const target = targets.find((one) => one.name === name);
        if (!target) return failed(`There is no agent ${name} to hand over to. Agents: ${names}.`);
        const found = await peers(target).catch(() => undefined);
        if (!found) return failed(`${name} cannot be reached now.`);
        if ('stop' in found) return failed(`${name} runs in a program of its own and cannot take a conversation over.`);
        return { content: `${name} has the conversation.`, handoff: { agentId: target.agentId, name } };
      },
    }),
  ];
}
