import { createClient, gateway, type BusMessage, type Client } from '@troupe/contract';
import { identityHeaders, type Clock } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import type { FileWatchDeps, Wake } from '../scheduler/service.ts';

export interface Reach extends Wake {
  /** The agent's own gateway, as its owner. */
  reach: (agent: { id: string; userId: string }) => Promise<Client>;
  find: FileWatchDeps['find'];
  /** Hands over a message of another agent; a repeat changes nothing. */
  deliver: (agent: { id: string; userId: string }, message: BusMessage, signal: AbortSignal) => Promise<void>;
}

export interface WakeDeps {
  roster: Roster;
  baseUrl: () => string;
  sessionSecret: string;
  clock: Clock;
}

/** Who calls, for the limits: each agent counts for itself, not all of them for this machine's address. An empty header would not be signed. */
const PLATFORM = { id: 'platform', email: 'platform@troupe.internal', isAdmin: false };

/** Reaches agents as everybody does: over HTTP, at their gateway, with their token. */
export function createWake({ roster, baseUrl, sessionSecret, clock }: WakeDeps): Reach {
  async function reach(agent: { id: string; userId: string }) {
    const token = await roster.system.token(await roster.of(agent.userId).get(agent.id));
    return createClient({
      baseUrl: baseUrl(),
      headers: () => ({
        authorization: `Bearer ${token}`,
        ...identityHeaders(sessionSecret, PLATFORM, clock()),
        'x-client-ip': `agent:${agent.id}`,
      }),
    });
  }
  return {
    reach,
    async execute(agent, { id: taskId, prompt, runId }, signal) {
      const client = await reach(agent);
      const { status, output, error } = await client.call(gateway.runtime.execute, {
        params: { agentId: agent.id },
        body: { taskId, prompt, runId },
        signal,
      });
      if (status === 'failed') throw new Error(error ?? output);
      return output;
    },
    async find(agent, query, signal) {
      const client = await reach(agent);
      const { files } = await client.call(gateway.files.find, { params: { agentId: agent.id }, query, signal });
      return files;
    },
    async heartbeat(agent, signal) {
      const client = await reach(agent);
      await client.call(gateway.runtime.wake, { params: { agentId: agent.id }, signal });
    },
    async deliver(agent, message, signal) {
      const client = await reach(agent);
      await client.call(gateway.runtime.deliver, { params: { agentId: agent.id }, body: message, signal });
    },
  };
}
