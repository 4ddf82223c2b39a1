import type { Tables } from '@troupe/db';
import type { Insertable } from 'kysely';
import type { Marks } from './marks.ts';

/** What clients of OpenAI and of Anthropic keep on the platform. */

export interface ManagedIds {
  responseId: string;
  environmentId: string;
  managedSessionId: string;
}

export async function addManaged(
  add: <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) => Promise<unknown>,
  { user_id, agent_id }: { user_id: string; agent_id: string },
  { responseId, environmentId, managedSessionId }: ManagedIds,
  mark: Marks['mark'],
): Promise<void> {
  const now = new Date();
  const kept = {
    id: responseId,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: mark('response'),
    output: [],
    store: true,
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  await add('stored_responses', {
    id: responseId,
    user_id,
    input: '[]',
    response: JSON.stringify(kept),
    bytes: 1,
    created_at: now,
  });
  const metadata = JSON.stringify({ own: mark('managed') });
  await add('managed_agents', { agent_id, user_id, metadata, tools: '[]' });
  const at = { user_id, metadata, created_at: now, updated_at: now };
  await add('managed_environments', { ...at, id: environmentId, name: mark('environment') });
  await add('managed_sessions', {
    ...at,
    id: managedSessionId,
    agent_id,
    environment_id: environmentId,
    title: mark('managedTitle'),
  });
}
