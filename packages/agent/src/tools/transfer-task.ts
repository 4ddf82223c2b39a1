import { z } from 'zod';
import type { Agent } from '../agent.ts';
import type { TeamMember } from '../definition.ts';
import { failed, tool, type Tool } from '../tool.ts';

/** Finds another agent of the team, awake; undefined when it cannot be reached. */
export type Peers = (member: TeamMember) => Promise<Agent | undefined>;

/**
 * Hands a task to a member of the team and waits for its answer. The member works in a session of its own that belongs
 * to this very call, so a repeat after a crash finds it again instead of doing the work twice.
 */
export function transferTaskTools(members: readonly TeamMember[], peers: Peers): Tool[] {
  if (members.length === 0) return [];
  const names = members.map(({ name }) => name);
  return [
    tool({
      name: 'transfer_task',
      toolset: 'transfer_task',
      description: `Hand a task to a member of your team: ${names.join(', ')}. The member knows only what you write.`,
      args: z.object({
        agent: z.string().describe('Name of the member'),
        task: z.string().trim().min(1).max(50_000),
        expected_output: z.string().max(10_000).default(''),
      }),
      repeatable: true,
      async run(
        { agent: name, task, expected_output: expected },
        { definition, sessionId, callId, remaining, signal },
      ) {
        const member = members.find((one) => one.name === name);
        if (!member) return failed(`There is no member ${name}. Members: ${names.join(', ')}.`);
        const peer = await peers(member);
        if (!peer) return failed(`${name} cannot be reached now.`);
        const key = `${sessionId}:${callId}`;
        const content = expected ? `${task}\n\nExpected output: ${expected}` : task;
        const asked = peer.ask({
          to: { channel: 'team', key },
          inputId: callId,
          content,
          from: definition.name,
          limits: {
            ...remaining,
            maxTurns: Math.max(1, remaining.maxTurns),
            maxTokens: Math.max(1, remaining.maxTokens),
          },
        });
        const onAbort = (): void => void stopMember(peer, key);
        signal.addEventListener('abort', onAbort, { once: true });
        try {
          const { reply, outcome, spent } = await asked;
          signal.throwIfAborted();
          if (outcome === 'waiting')
            return { ...failed(`${name} waits for an approval by the owner and goes on after it.`), spent };
          return outcome === 'done' ? { content: reply, spent } : { content: reply, isError: true, spent };
        } finally {
          signal.removeEventListener('abort', onAbort);
        }
      },
    }),
  ];
}

/** The member's work ends with the one who asked for it. */
async function stopMember(peer: Agent, key: string): Promise<void> {
  const sessions = await peer.store.sessions({ limit: 50, offset: 0 });
  const session = sessions.find((one) => one.channel === 'team' && one.key === key);
  if (session) await peer.cancel(session.id, 'team');
}
