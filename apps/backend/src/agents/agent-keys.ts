import type { Accounts } from '@troupe/accounts';
import type { OwnKey } from '@troupe/ai';
import type { Database } from '@troupe/db';
import { sha256Hex, type Authenticator } from '@troupe/kernel';
import type { AllAgents } from '@troupe/roster';
import { agentByToken } from './agent-keys-store.ts';

const PREFIX = 'sk_';

interface AgentKeyDeps {
  db: Database;
  accounts: Accounts;
  roster: Pick<AllAgents, 'ownKey'>;
}

export interface AgentKeys {
  byAgentKey: NonNullable<Authenticator['byAgentKey']>;
  /** The own account on which the agent that sent a request thinks. */
  ownKey: (headers: object) => OwnKey | undefined;
}

/**
 * An agent that runs as a program of its own thinks through /v1 with its gateway token behind `sk_`. It is charged to its
 * owner, its limits and usage count for itself; nothing else of the platform opens to it.
 */
export function createAgentKeys({ db, accounts, roster }: AgentKeyDeps): AgentKeys {
  const ownKeys = new WeakMap<object, OwnKey>();

  async function agentOf(token: string) {
    const row = await agentByToken(db.system, sha256Hex(token));
    if (!row) return undefined;
    const { agent_id: id, ai_provider, provider_key } = row;
    return {
      agentId: id,
      user: accounts.toUser(row, null),
      ownKey: roster.ownKey({ id, ai_provider, provider_key }),
    };
  }

  return {
    async byAgentKey(key, { headers }) {
      const agent = key.startsWith(PREFIX) ? await agentOf(key.slice(PREFIX.length)) : undefined;
      if (!agent) return null;
      headers['x-agent-id'] = agent.agentId;
      if (agent.ownKey) ownKeys.set(headers, agent.ownKey);
      return { ...agent.user, countedAs: `agent:${agent.agentId}` };
    },
    ownKey: (headers) => ownKeys.get(headers),
  };
}
