import type { Example, Make } from './example.ts';
import type { OwnerIds } from './world.ts';

/** What clients of OpenAI and of Anthropic keep on the platform: responses, agents, environments, sessions. */

const response = ({ responseId: id }: OwnerIds): Example => ({ params: { id } });
const agent = ({ agentId: id }: OwnerIds): Example => ({ params: { id } });
const environment = ({ environmentId: id }: OwnerIds): Example => ({ params: { id } });
const session = ({ managedSessionId: id }: OwnerIds): Example => ({ params: { id } });
const file = ({ managedFileId: id }: OwnerIds): Example => ({
  params: { id },
  headers: { 'anthropic-version': '2023-06-01' },
});
const resource = ({ managedSessionId: id, resourceId }: OwnerIds): Example => ({ params: { id, resourceId } });
const thread = ({ managedSessionId: id }: OwnerIds): Example => ({
  params: { id, threadId: id.replace(/^sesn_/, 'sthr_') },
});
const deployment = ({ deploymentId: id }: OwnerIds): Example => ({ params: { id } });
const vault = ({ vaultId: id }: OwnerIds): Example => ({ params: { id } });
const credential = ({ vaultId: id, credentialId }: OwnerIds): Example => ({ params: { id, credentialId } });
const store = ({ memoryStoreId: id }: OwnerIds): Example => ({ params: { id } });
const memory = ({ memoryStoreId: id, memoryId }: OwnerIds): Example => ({ params: { id, memoryId } });
const memoryVersion = ({ memoryStoreId: id, memoryVersionId: versionId }: OwnerIds): Example => ({
  params: { id, versionId },
});
const skill = ({ skillId: id }: OwnerIds): Example => ({ params: { id } });
const skillVersion = ({ skillId: id, skillDigest: version }: OwnerIds): Example => ({ params: { id, version } });
const auth = { type: 'static_bearer', token: 'stolen', mcp_server_url: 'https://a.test/mcp' };
const said = { type: 'user.message', content: [{ type: 'text', text: 'hello' }] };

export const MANAGED: Record<string, Make> = {
  'GET /v1/responses/:id': response,
  'DELETE /v1/responses/:id': response,
  'POST /v1/responses/:id/cancel': response,
  'GET /v1/responses/:id/input_items': response,
  'POST /v1/agents': () => ({ body: { name: 'stolen', model: 'm' } }),
  'GET /v1/agents': () => ({}),
  'GET /v1/agents/:id': agent,
  'POST /v1/agents/:id': (id) => ({ ...agent(id), body: { system: 'stolen' } }),
  'POST /v1/agents/:id/archive': agent,
  'GET /v1/agents/:id/versions': agent,
  'POST /v1/environments': () => ({ body: { name: 'own' } }),
  'GET /v1/environments': () => ({}),
  'GET /v1/environments/:id': environment,
  'POST /v1/environments/:id': (id) => ({ ...environment(id), body: { name: 'stolen' } }),
  'POST /v1/environments/:id/archive': environment,
  'DELETE /v1/environments/:id': environment,
  'POST /v1/sessions': ({ agentId, environmentId }) => ({ body: { agent: agentId, environment_id: environmentId } }),
  'GET /v1/sessions': ({ agentId }) => ({ query: { agent_id: agentId } }),
  'GET /v1/sessions/:id': session,
  'POST /v1/sessions/:id': (id) => ({ ...session(id), body: { title: 'stolen' } }),
  'POST /v1/sessions/:id/archive': session,
  'DELETE /v1/sessions/:id': session,
  'POST /v1/sessions/:id/events': (id) => ({ ...session(id), body: { events: [said] } }),
  'GET /v1/sessions/:id/events': session,
  'GET /v1/sessions/:id/events/stream': session,
  'GET /v1/sessions/:id/resources': session,
  'POST /v1/sessions/:id/resources': ({ managedSessionId: id, managedFileId }) => ({
    params: { id },
    body: { type: 'file', file_id: managedFileId },
  }),
  'GET /v1/sessions/:id/resources/:resourceId': resource,
  'POST /v1/sessions/:id/resources/:resourceId': (id) => ({ ...resource(id), body: { authorization_token: 't' } }),
  'DELETE /v1/sessions/:id/resources/:resourceId': resource,
  'GET /v1/sessions/:id/threads': session,
  'GET /v1/sessions/:id/threads/:threadId': thread,
  'POST /v1/sessions/:id/threads/:threadId/archive': thread,
  'GET /v1/sessions/:id/threads/:threadId/events': thread,
  'GET /v1/sessions/:id/threads/:threadId/stream': thread,
  'POST /v1/files': () => ({ headers: { 'anthropic-version': '2023-06-01' } }),
  'GET /v1/files': () => ({ headers: { 'anthropic-version': '2023-06-01' } }),
  'GET /v1/files/:id': file,
  'GET /v1/files/:id/content': file,
  'DELETE /v1/files/:id': file,
  'POST /v1/deployments': ({ agentId, environmentId }) => ({
    body: { agent: agentId, environment_id: environmentId, name: 'stolen', initial_events: [said] },
  }),
  'GET /v1/deployments': ({ agentId }) => ({ query: { agent_id: agentId } }),
  'GET /v1/deployments/:id': deployment,
  'POST /v1/deployments/:id': (id) => ({ ...deployment(id), body: { name: 'stolen' } }),
  'POST /v1/deployments/:id/archive': deployment,
  'POST /v1/deployments/:id/pause': deployment,
  'POST /v1/deployments/:id/unpause': deployment,
  'POST /v1/deployments/:id/run': deployment,
  'GET /v1/deployment_runs': ({ deploymentId }) => ({ query: { deployment_id: deploymentId } }),
  'GET /v1/deployment_runs/:id': ({ deploymentRunId: id }) => ({ params: { id } }),
  'POST /v1/memory_stores': () => ({ body: { name: 'own' } }),
  'GET /v1/memory_stores': () => ({}),
  'GET /v1/memory_stores/:id': store,
  'POST /v1/memory_stores/:id': (id) => ({ ...store(id), body: { name: 'stolen' } }),
  'POST /v1/memory_stores/:id/archive': store,
  'DELETE /v1/memory_stores/:id': store,
  'POST /v1/memory_stores/:id/memories': (id) => ({ ...store(id), body: { path: '/stolen', content: 'stolen' } }),
  'GET /v1/memory_stores/:id/memories': store,
  'GET /v1/memory_stores/:id/memories/:memoryId': memory,
  'POST /v1/memory_stores/:id/memories/:memoryId': (id) => ({ ...memory(id), body: { content: 'stolen' } }),
  'DELETE /v1/memory_stores/:id/memories/:memoryId': memory,
  'GET /v1/memory_stores/:id/memory_versions': store,
  'GET /v1/memory_stores/:id/memory_versions/:versionId': memoryVersion,
  'POST /v1/memory_stores/:id/memory_versions/:versionId/redact': memoryVersion,
  'POST /v1/stores/use': ({ agentId, managedSessionId: session }) => ({
    headers: { 'x-agent-id': agentId },
    body: { op: 'list', session },
  }),
  'POST /v1/skills': () => ({}),
  'GET /v1/skills': () => ({}),
  'GET /v1/skills/:id': skill,
  'DELETE /v1/skills/:id': skill,
  'POST /v1/skills/:id/versions': skill,
  'GET /v1/skills/:id/versions': skill,
  'GET /v1/skills/:id/versions/:version': skillVersion,
  'DELETE /v1/skills/:id/versions/:version': skillVersion,
  'GET /v1/skills/:id/versions/:version/content': skillVersion,
  'POST /v1/vaults': () => ({ body: { display_name: 'own' } }),
  'GET /v1/vaults': () => ({}),
  'GET /v1/vaults/:id': vault,
  'POST /v1/vaults/:id': (id) => ({ ...vault(id), body: { display_name: 'stolen' } }),
  'POST /v1/vaults/:id/archive': vault,
  'DELETE /v1/vaults/:id': vault,
  'POST /v1/vaults/:id/credentials': (id) => ({ ...vault(id), body: { auth } }),
  'GET /v1/vaults/:id/credentials': vault,
  'GET /v1/vaults/:id/credentials/:credentialId': credential,
  'POST /v1/vaults/:id/credentials/:credentialId': (id) => ({ ...credential(id), body: { display_name: 'stolen' } }),
  'POST /v1/vaults/:id/credentials/:credentialId/archive': credential,
  'DELETE /v1/vaults/:id/credentials/:credentialId': credential,
  'POST /v1/vaults/:id/credentials/:credentialId/mcp_oauth_validate': credential,
};
