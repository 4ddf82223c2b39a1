import type { OwnKey } from '@troupe/ai';
import { createCipher, randomHex, sha256Hex } from '@troupe/kernel';
import type { AgentRow } from './agent.ts';

/** What of an agent's rows only the platform can read: its gateway token, its channels' tokens, its owner's key. */
export type Seals = ReturnType<typeof createSeals>;

const TOKEN_BYTES = 32;

export function createSeals(sealKey: string) {
  const tokens = createCipher(sealKey, 'agents');
  const channels = createCipher(sealKey, 'channels');
  const providerKeys = createCipher(sealKey, 'provider keys');
  return {
    /** A new gateway token, and what the row keeps of it. */
    newToken(agentId: string) {
      const token = randomHex(TOKEN_BYTES);
      return {
        token,
        columns: { token_hash: sha256Hex(token), token_sealed: tokens.seal(token, `agent:${agentId}`) },
      };
    },
    /** Undefined: it has none, because what it had was ended. */
    token: ({ id, token_sealed: sealed }: Pick<AgentRow, 'id' | 'token_sealed'>): string | undefined =>
      sealed ? tokens.open(sealed, `agent:${id}`) : undefined,
    sealChannel: (agentId: string, channel: string, token: string) =>
      channels.seal(token, `agent:${agentId}:${channel}`),
    openChannel: (agentId: string, channel: string, sealed: Parameters<typeof channels.open>[0]) =>
      channels.open(sealed, `agent:${agentId}:${channel}`),
    sealOwnKey: (agentId: string, apiKey: string) => providerKeys.seal(apiKey, `agent:${agentId}`),
    /** The owner's own account at a provider, if the agent thinks on one. */
    ownKey: ({
      id,
      ai_provider: provider,
      provider_key: sealed,
    }: Pick<AgentRow, 'id' | 'ai_provider' | 'provider_key'>): OwnKey | undefined =>
      sealed ? { provider, apiKey: providerKeys.open(sealed, `agent:${id}`) } : undefined,
  };
}
