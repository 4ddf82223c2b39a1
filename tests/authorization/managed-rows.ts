import type { Tables } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { Insertable } from 'kysely';
import type { Marks } from './marks.ts';

/** What clients of OpenAI and of Anthropic keep on the platform. */

export interface ManagedIds {
  responseId: string;
  environmentId: string;
  managedSessionId: string;
  managedFileId: string;
  resourceId: string;
  deploymentId: string;
  deploymentRunId: string;
  vaultId: string;
  credentialId: string;
  memoryStoreId: string;
  memoryId: string;
  memoryVersionId: string;
}

export const managedIds = (): ManagedIds => ({
  responseId: `resp_${newId()}`,
  environmentId: `env_${newId()}`,
  managedSessionId: `sesn_${newId()}`,
  managedFileId: `file_${newId()}`,
  resourceId: `sesrsc_${newId()}`,
  deploymentId: newId(),
  deploymentRunId: newId(),
  vaultId: `vlt_${newId()}`,
  credentialId: `vcred_${newId()}`,
  memoryStoreId: `memstore_${newId()}`,
  memoryId: `mem_${newId()}`,
  memoryVersionId: `memver_${newId()}`,
});

export async function addManaged(
  add: <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) => Promise<unknown>,
  { user_id, agent_id }: { user_id: string; agent_id: string },
  ids: ManagedIds,
  mark: Marks['mark'],
): Promise<void> {
  const { responseId, environmentId, managedSessionId } = ids;
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
  await addKept(add, { user_id, agent_id }, ids, mark);
}

/** Files, deployments and vaults. */
async function addKept(
  add: Parameters<typeof addManaged>[0],
  { user_id, agent_id }: { user_id: string; agent_id: string },
  ids: ManagedIds,
  mark: Marks['mark'],
): Promise<void> {
  const now = new Date();
  const metadata = JSON.stringify({ own: mark('kept') });
  await add('managed_files', {
    id: ids.managedFileId,
    user_id,
    name: mark('fileName'),
    mime: 'text/plain',
    bytes: 4,
    content: Buffer.from(mark('fileContent')),
    created_at: now,
  });
  await add('managed_resources', {
    id: ids.resourceId,
    user_id,
    session_id: ids.managedSessionId,
    file_id: ids.managedFileId,
    path: mark('resourcePath'),
    created_at: now,
  });
  await add('scheduled_tasks', {
    id: ids.deploymentId,
    user_id,
    agent_id,
    name: mark('deployment'),
    cron_schedule: '@triggered',
    prompt: mark('deploymentPrompt'),
    created_at: now,
    updated_at: now,
  });
  await add('managed_deployments', {
    task_id: ids.deploymentId,
    user_id,
    environment_id: ids.environmentId,
    metadata,
  });
  await add('task_runs', {
    id: ids.deploymentRunId,
    task_id: ids.deploymentId,
    user_id,
    due_at: now,
    started_at: now,
    status: 'failed',
    error: mark('runError'),
    source: 'api',
  });
  await add('managed_deployment_runs', { run_id: ids.deploymentRunId, user_id, error: 'unknown_error' });
  const at = { user_id, metadata, created_at: now, updated_at: now };
  await add('managed_vaults', { ...at, id: ids.vaultId, name: mark('vault') });
  await add('managed_credentials', {
    ...at,
    id: ids.credentialId,
    vault_id: ids.vaultId,
    kind: 'static_bearer',
    url: `https://${mark('credential')}.test/mcp`,
    sealed: Buffer.from('sealed'),
  });
  await addStore(add, user_id, ids, mark);
}

async function addStore(
  add: Parameters<typeof addManaged>[0],
  user_id: string,
  { memoryStoreId: store_id, memoryId, memoryVersionId: version_id, managedSessionId: session_id }: ManagedIds,
  mark: Marks['mark'],
): Promise<void> {
  const now = new Date();
  const at = { user_id, created_at: now, updated_at: now };
  const [name, description] = [mark('store'), mark('storeSays')];
  await add('managed_stores', { ...at, id: store_id, name, description, metadata: '{}' });
  const said = { path: `/${mark('memoryPath')}`, content: mark('memory'), sha256: 'a'.repeat(64), bytes: 4 };
  await add('managed_memories', { ...at, ...said, id: memoryId, store_id, version_id });
  const was = { ...said, id: version_id, user_id, store_id, memory_id: memoryId, created_at: now };
  await add('managed_memory_versions', { ...was, operation: 'created', created_by: '{"type":"api_actor"}' });
  const given = { session_id, store_id, user_id, name, description, instructions: '', created_at: now };
  await add('managed_session_stores', { ...given, access: 'read_write' });
}
