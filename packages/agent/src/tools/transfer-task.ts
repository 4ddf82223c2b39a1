import { z } from 'zod';
import type { Agent, Answer, Input } from '../agent.ts';
import type { TeamMember } from '@troupe/domain';
import { failed, tool, type Tool } from './tool.ts';

/** Another agent of the team as the one who hands it work sees it. */
export interface Peer {
  ask: (input: Input) => Promise<Answer>;
  /** Ends the work that was given under this key. */
  stop: (key: string, channel: string) => Promise<void>;
}

type Named = Pick<TeamMember, 'agentId' | 'name'>;

/** Finds another agent of the team, here or elsewhere; undefined when it cannot be reached. */
export type Peers = (member: Named) => Promise<Agent | Peer | undefined>;

export async function peerOf(peers: Peers | undefined, member: Named): Promise<Peer | undefined> {
  const found = await peers?.(member);
  return found && ('stop' in found ? found : localPeer(found));
}

const ARGS = {
  transfer_task: z.object({
    agent: z.string().describe('Name of the member'),
    task: z.string().trim().min(1).max(50_000),
    expected_output: z.string().max(10_000).default(''),
  }),
};

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
      args: ARGS.transfer_task,
      repeatable: true,
      async run(
        { agent: name, task, expected_output: expected },
        { definition, sessionId, callId, remaining, signal, run },
      ) {
        const member = members.find((one) => one.name === name);
        if (!member) return failed(`There is no member ${name}. Members: ${names.join(', ')}.`);
        const peer = await peerOf(peers, member);
        if (!peer) return failed(`${name} cannot be reached now.`);
        const key = `${sessionId}:${callId}`;
        const content = expected ? `${task}\n\nExpected output: ${expected}` : task;
        const asked = peer.ask({
          to: { channel: 'team', key },
          inputId: callId,
          content,
          from: definition.name,
          ...(run && run.depth > 0 && { depth: run.depth }),
          limits: {
            ...remaining,
            maxTurns: Math.max(1, remaining.maxTurns),
            maxTokens: Math.max(1, remaining.maxTokens),
          },
        });
        const onAbort = (): void => void peer.stop(key, 'team').catch(() => undefined);
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

const localPeer = (agent: Agent): Peer => ({
  ask: (input) => agent.ask(input),
  stop: (key, channel) => cancelWork(agent, channel, key),
});

/** Cancels what goes on in the conversation of this channel and key; nothing when there is none. */
export async function cancelWork(agent: Agent, channel: string, key: string): Promise<void> {
  const delivered = await agent.store.deliver({ to: { channel, key }, events: [] });
  if (delivered) await agent.cancel(delivered.session.id, channel);
}
