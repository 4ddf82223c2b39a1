import type { Example, Make } from './example.ts';
import type { OwnerIds } from './world.ts';

/** MCP both ways: the platform and agents as servers, their clients' access, and the servers that agents use. */

const agent = ({ agentId: id }: OwnerIds): Example => ({ params: { id } });
const inAgent = ({ agentId }: OwnerIds, more: object = {}) => ({ params: { agentId, ...more } });
const only =
  (body: unknown): Make =>
  () => ({ body });
const rpc = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});
const MCP_HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
const asksForAccess = {
  client_id: 'nobody',
  redirect_uri: 'https://evil.example/cb',
  response_type: 'code',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
};
const mcpServer = ({ agentId: id, mcpServer: name }: OwnerIds) => ({ params: { id, name } });
const userServer = ({ userServer: name }: OwnerIds) => ({ params: { name } });
const gatewayServer = (id: OwnerIds) => inAgent(id, { id: id.mcpServer });

export const MCP_WEB: Record<string, Make> = {
  'POST /mcp': ({ agentId: agent, taskId: task }) =>
    [
      rpc('list_agents', {}),
      rpc('ask_agent', { agent, message: 'hello' }),
      rpc('list_conversations', { agent }),
      rpc('read_conversation', { agent, conversation: 'dashboard' }),
      rpc('read_memory', { agent }),
      rpc('list_tasks', { agent }),
      rpc('list_task_runs', { task }),
      rpc('create_task', { agent, name: 'stolen', schedule: '0 9 * * 1', prompt: 'p' }),
      rpc('delete_task', { task }),
    ].map((body) => ({ body, headers: MCP_HEADERS })),
  'POST /oauth/register': only({ redirect_uris: ['https://evil.example/cb'] }),
  'GET /api/authorizations/request': () => ({ query: asksForAccess }),
  'POST /api/authorizations': only({ ...asksForAccess, approved: true, scopes: ['agents:read'] }),
  'DELETE /api/authorizations/:id': ({ grantId: id }) => ({ params: { id } }),
  'GET /api/agents/:id/mcp-servers': agent,
  'PUT /api/agents/:id/mcp-servers/:name': (id) => ({ ...mcpServer(id), body: { url: 'https://evil.example/mcp' } }),
  'DELETE /api/agents/:id/mcp-servers/:name': mcpServer,
  'POST /api/agents/:id/mcp-servers/:name/test': mcpServer,
  'POST /api/agents/:id/mcp-servers/:name/update': mcpServer,
  'PUT /api/agents/:id/mcp-servers/:name/use': ({ agentId: id, userServer: name }) => ({
    params: { id, name },
    body: { use: false },
  }),
  'GET /api/mcp-servers': () => ({}),
  'PUT /api/mcp-servers/:name': ({ agentId, userServer: name }) => ({
    params: { name },
    body: { url: 'https://evil.example/mcp', forAll: false, agents: [agentId] },
  }),
  'PATCH /api/mcp-servers/:name': ({ agentId, userServer: name }) => ({
    params: { name },
    body: { agents: [agentId] },
  }),
  'DELETE /api/mcp-servers/:name': userServer,
  'POST /api/mcp-servers/:name/test': ({ agentId, userServer: name }) => [
    { params: { name }, body: {} },
    { params: { name }, body: { agentId } },
  ],
  'POST /api/mcp-servers/:name/update': ({ agentId, userServer: name }) => ({ params: { name }, body: { agentId } }),
  'POST /api/mcp-servers/:name/connect': userServer,
  'POST /api/agents/:id/mcp-servers/:name/connect': mcpServer,
  'GET /api/agents/:id/logins': agent,
  'PUT /api/agents/:id/logins/:name': ({ agentId: id }) => ({
    params: { id, name: 'mine' },
    body: { origin: 'https://evil.example', username: 'u', password: 'p' },
  }),
  'DELETE /api/agents/:id/logins/:name': ({ agentId: id }) => ({ params: { id, name: 'mine' } }),
  'GET /api/mcp/callback': ({ agentId, mcpServer: name }) => ({
    query: { code: 'c', state: `${agentId}.${name}.${'0'.repeat(32)}` },
  }),
};

export const MCP_BACKEND: Record<string, Make> = {
  'GET /.well-known/oauth-protected-resource/api/runtime/proxy/:agentId/mcp': (id) => inAgent(id),
  'POST /api/runtime/proxy/:agentId/mcp': (id) =>
    [rpc('ask_agent', { message: 'hello' }), rpc('list_conversations', {})].map((body) => ({
      ...inAgent(id),
      body,
      headers: MCP_HEADERS,
    })),
  'GET /api/runtime/proxy/:agentId/mcp-servers': (id) => inAgent(id),
  'PUT /api/runtime/proxy/:agentId/mcp-servers/:id': (id) => ({
    ...gatewayServer(id),
    body: { url: 'https://evil.example/mcp' },
  }),
  'DELETE /api/runtime/proxy/:agentId/mcp-servers/:id': gatewayServer,
  'POST /api/runtime/proxy/:agentId/mcp-servers/:id/test': gatewayServer,
  'POST /api/runtime/proxy/:agentId/mcp-servers/:id/update': gatewayServer,
  'POST /api/mcp-servers/:name/consent': ({ userServer: name }) => ({
    params: { name },
    body: { redirectUri: 'https://evil.example/cb', state: '0'.repeat(32) },
  }),
  'POST /api/mcp-servers/:name/consented': ({ userServer: name }) => ({
    params: { name },
    body: { code: 'c', state: '0'.repeat(32) },
  }),
  'GET /v1/mcp_servers': ({ agentId }) => ({ headers: { 'x-agent-id': agentId } }),
  'POST /v1/mcp_servers/:id/state': ({ agentId, userServerId: id }) => ({
    params: { id },
    headers: { 'x-agent-id': agentId },
    body: { state: 'failed', error: 'stolen' },
  }),
  'POST /api/runtime/proxy/:agentId/mcp-servers/:id/consent': (id) => ({
    ...gatewayServer(id),
    body: { redirectUri: 'https://evil.example/cb', state: '0'.repeat(32) },
  }),
  'POST /api/runtime/proxy/:agentId/mcp-servers/:id/consented': (id) => ({
    ...gatewayServer(id),
    body: { code: 'c', state: '0'.repeat(32) },
  }),
};
