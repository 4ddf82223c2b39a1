import type { Endpoint } from '@troupe/contract';
import type { Example, Make } from './example.ts';
import { COSTS_WEB } from './costs-examples.ts';
import { MANAGED } from './managed-examples.ts';
import { MCP_BACKEND, MCP_WEB } from './mcp-examples.ts';
import { CHANNELS } from './channel-examples.ts';
import { TRIGGERS } from './trigger-examples.ts';
import { WIDGETS } from './widget-examples.ts';
import { KNOWLEDGE_BACKEND, KNOWLEDGE_WEB } from './knowledge-examples.ts';
import { INBOX_WEB } from './inbox-examples.ts';
import { SAY_BACKEND, SAY_WEB } from './say-examples.ts';
import { SKILLS_WEB } from './skills-examples.ts';
import { ADDRESS, bus, SIGNATURE, UNDERGROUND } from './underground-examples.ts';
import type { OwnerIds } from './world.ts';

/**
 * A request of each endpoint that takes something, about the owner's things wherever it can name them. `id` below stands
 * for what the owner has. An endpoint that takes nothing needs no example; for every other one the matrix asks for it.
 */

const agent = ({ agentId: id }: OwnerIds): Example => ({ params: { id } });
const agentWith =
  (body: unknown): Make =>
  (id) => ({ ...agent(id), body });
const inAgent = ({ agentId }: OwnerIds, more: object = {}) => ({ params: { agentId, ...more } });
const taskOf = ({ conversationId }: OwnerIds): string => `task-${conversationId}`;
const EVALUATION_CASE = { name: 'stolen', input: 'x', checks: [{ kind: 'contains', text: 'x' }] };
const inConversation: Make = ({ agentId: id, conversationId: sessionId }) => ({ params: { id, sessionId } });
const backup: Make = ({ agentId: id, backupId }) => ({ params: { id, backupId } });
const only =
  (body: unknown): Make =>
  () => ({ body });
const HASH = `0x${'11'.repeat(32)}`;
const HEX64 = 'ab'.repeat(32);
const verify = { verificationType: 'eas', verified: true, attestationUid: 'x', verifierAddress: ADDRESS, metadata: {} };
const said = { messages: [{ role: 'user', content: 'hello' }] };
const assertion = {
  id: 'AAAA',
  type: 'public-key',
  response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
};
const attestation = {
  id: 'AAAA',
  type: 'public-key',
  response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', publicKey: 'AAAA', publicKeyAlgorithm: -7 },
};
const page = { url: 'http://127.0.0.1:1/' };

const team = `version: "2"\nagents:\n  root:\n    model: xiaomi/mimo-v2-pro\n    instruction: Help.\n`;

const OF_AGENTS: Record<string, Make> = {
  ...CHANNELS,
  'DELETE /api/agents/:id/backups/:backupId': backup,
  'GET /api/agents/:id/backups/:backupId': backup,
  'POST /api/agents/:id/backups/:backupId/restore': backup,
};

const INSTALLATIONS: Record<string, Make> = {
  'POST /api/register-home': ({ userId }) => [
    { body: { userId, mode: 'cloud' } },
    { body: { userId, mode: 'home', gatewayToken: 'stolen-0123456789abcdef' } },
  ],
  'POST /api/register-link': ({ userId }) => [
    { body: { userId } },
    { body: { userId, gatewayToken: 'stolen-0123456789abcdef' } },
  ],
};

const BACKEND: Record<string, Make> = {
  ...UNDERGROUND,
  ...OF_AGENTS,
  ...INSTALLATIONS,
  'POST /api/agents': only({ name: 'n', config: { plan: 'network' } }),
  'PUT /api/agents/:id': ({ agentId: id, skillId, collectionId }) => [
    {
      params: { id },
      body: { name: 'stolen', config: {}, purpose: { instruction: 'stolen' }, plan: 'network' },
    },
    { params: { id }, body: { skill: { id: skillId, on: false } } },
    { params: { id }, body: { collection: { id: collectionId, on: true } } },
    { params: { id }, body: { rule: { tool: 'shell', within: null } } },
  ],
  'POST /api/agents/:id/update': agentWith({ image: 'stolen/image:1' }),
  'POST /api/agents/:id/verify': agentWith(verify),
  'POST /api/ai/chat': (id) => ({ body: said, headers: { 'x-agent-id': id.agentId, 'x-run-id': id.runId } }),
  'GET /api/ai/models/:provider': () => ({ params: { provider: 'openrouter' } }),
  'POST /api/ai/providers/test': only({ kind: 'compatible', baseUrl: 'http://127.0.0.1:1' }),
  'POST /api/ai/models/select': only({ taskType: 'general' }),
  'POST /api/deployments': ({ agentId }) => ({ body: { agentId, config: { name: 'stolen', plan: 'network' } } }),
  'POST /api/deployments/team': ({ agentId, teamId }) => [
    { body: { teamId, yaml: team } },
    { body: { teamId: `t-${teamId}`, yaml: team, agents: [{ agentId, config: { name: 'root' } }] } },
  ],
  'POST /api/heartbeat': ({ userId }) => ({ body: { userId } }),
  'POST /api/infra-mcp/validate-config': only({ api_key: 'rnd_x' }),
  'POST /api/provision': ({ agentId }) => ({
    body: { agentId, channelTokenA: '1:a', name: 'stolen', plan: 'network' },
  }),
  'GET /api/runtime/instances/:id/stats': agent,
  ...MCP_BACKEND,
  'POST /api/runtime/proxy/:agentId/approvals/:id': (id) => ({
    ...inAgent(id, { id: id.approvalId }),
    body: { approved: true },
  }),
  'POST /api/runtime/proxy/:agentId/bus': (id) => ({ ...inAgent(id), body: { ...bus(id, id.agentId) } }),
  'POST /api/runtime/proxy/:agentId/execute': (id) => ({
    ...inAgent(id),
    body: { taskId: id.taskId, prompt: 'p', runId: id.runId },
  }),
  'POST /api/runtime/proxy/:agentId/heartbeat': (id) => inAgent(id),
  'GET /api/runtime/proxy/:agentId/logs': (id) => inAgent(id),
  'GET /api/runtime/proxy/:agentId/background': (id) => inAgent(id),
  'GET /api/runtime/proxy/:agentId/background/:id': (id) => inAgent(id, { id: taskOf(id) }),
  'POST /api/runtime/proxy/:agentId/background/:id/stop': (id) => inAgent(id, { id: taskOf(id) }),
  'GET /api/runtime/proxy/:agentId/memory': (id) => inAgent(id),
  'PUT /api/runtime/proxy/:agentId/memory': (id) => ({ ...inAgent(id), body: { key: 'k', content: 'stolen' } }),
  'DELETE /api/runtime/proxy/:agentId/memory/:id': (id) => inAgent(id, { id: 'm' }),
  'GET /api/runtime/proxy/:agentId/approvals': (id) => inAgent(id),
  'GET /api/runtime/proxy/:agentId/approvals/asked': (id) => ({ ...inAgent(id), query: { tool: 'write_file' } }),
  'GET /api/runtime/proxy/:agentId/messages': (id) => inAgent(id),
  'POST /api/runtime/proxy/:agentId/messages': (id) => ({
    ...inAgent(id),
    body: { content: 'hello', key: 'dashboard', id: 'm-1' },
  }),
  'POST /api/runtime/proxy/:agentId/notes': (id) => ({
    ...inAgent(id),
    body: { content: 'hello', role: 'user', session: id.conversationId, id: 'n-1' },
  }),
  'GET /api/runtime/proxy/:agentId/files': (id) => ({ ...inAgent(id), query: { path: '.' } }),
  'DELETE /api/runtime/proxy/:agentId/files': (id) => ({ ...inAgent(id), query: { path: 'x' } }),
  'GET /api/runtime/proxy/:agentId/files/find': (id) => ({ ...inAgent(id), query: { pattern: '*', since: '0' } }),
  'GET /api/runtime/proxy/:agentId/files/content': (id) => ({ ...inAgent(id), query: { path: 'x' } }),
  'GET /api/runtime/proxy/:agentId/files/preview': (id) => ({ ...inAgent(id), query: { path: 'x' } }),
  'GET /api/runtime/proxy/:agentId/files/zip': (id) => ({ ...inAgent(id), query: { path: '.' } }),
  'PUT /api/runtime/proxy/:agentId/files/content': (id) => ({ ...inAgent(id), query: { path: 'x' } }),
  'GET /api/runtime/proxy/:agentId/search': (id) => ({ ...inAgent(id), query: { q: 'x' } }),
  'PATCH /api/runtime/proxy/:agentId/sessions/:id': (id) => ({
    ...inAgent(id, { id: id.conversationId }),
    body: { title: 'stolen' },
  }),
  'DELETE /api/runtime/proxy/:agentId/sessions/:id': (id) => inAgent(id, { id: id.conversationId }),
  'GET /api/runtime/proxy/:agentId/sessions/:id/branches': (id) => inAgent(id, { id: id.conversationId }),
  'POST /api/runtime/proxy/:agentId/sessions/:id/branches': (id) => ({
    ...inAgent(id, { id: id.conversationId }),
    body: { at: 0, content: 'stolen', id: 'b-1' },
  }),
  'GET /api/runtime/proxy/:agentId/sessions/:id/events': (id) => inAgent(id, { id: id.conversationId }),
  'GET /api/runtime/proxy/:agentId/sessions': (id) => ({ ...inAgent(id), query: { limit: '9', offset: '0' } }),
  'GET /api/runtime/proxy/:agentId/sessions/:id': (id) => ({
    ...inAgent(id, { id: id.conversationId }),
    query: { after: '0', limit: '9' },
  }),
  'POST /api/runtime/proxy/:agentId/sessions/:id/cancel': (id) => inAgent(id, { id: id.conversationId }),
  'POST /api/runtime/proxy/:agentId/v1/chat/completions': (id) => ({ ...inAgent(id), body: said }),
  'POST /api/runtime/proxy/:agentId/v1/messages': (id) => ({
    ...inAgent(id),
    body: { ...said, model: 'm', max_tokens: 9 },
  }),
  'POST /api/runtime/proxy/:agentId/v1/responses': (id) => ({ ...inAgent(id), body: { input: 'hello' } }),
  'POST /v1/messages': only({ ...said, model: 'm', max_tokens: 9 }),
  'POST /v1/messages/count_tokens': only({ ...said, model: 'm' }),
  'POST /v1/responses': only({ input: 'hello' }),
  ...MANAGED,
  'POST /v1/embeddings': only({ model: 'm', input: 'hello' }),
  'GET /v1/models/:id': () => ({ params: { id: 'm' } }),
  'GET /v1/models/:id/:name': () => ({ params: { id: 'v', name: 'm' } }),
  'POST /v1/chat/completions': ({ agentId, runId }) => ({
    body: said,
    headers: { 'x-agent-id': agentId, 'x-run-id': runId },
  }),
  ...KNOWLEDGE_BACKEND,
  ...SAY_BACKEND,
  'GET /v1/skill_files/:digest': ({ agentId, skillDigest: digest }) => ({
    params: { digest },
    headers: { 'x-agent-id': agentId },
  }),
  'POST /v1/team-store': ({ memberId }) =>
    [
      { op: 'recall', limit: 100 },
      { op: 'todos' },
      { op: 'remember', content: 'stolen', bounds: { maxEntries: 1, ttlDays: 1 } },
      { op: 'editMemory', id: 'm', content: 'stolen', bounds: { maxEntries: 1, ttlDays: 1 } },
      { op: 'forget', id: 'm' },
      { op: 'addTodos', descriptions: ['stolen'] },
      { op: 'setTodo', id: 'x', status: 'completed' },
    ].map((body) => ({ body, headers: { 'x-agent-id': memberId } })),
};

const WEB: Record<string, Make> = {
  ...TRIGGERS,
  ...WIDGETS,
  ...MCP_WEB,
  ...KNOWLEDGE_WEB,
  ...COSTS_WEB,
  ...INBOX_WEB,
  ...SAY_WEB,
  ...SKILLS_WEB,
  ...UNDERGROUND,
  ...OF_AGENTS,
  ...INSTALLATIONS,
  'POST /api/admin/invites': only({ email: 'somebody@example.org' }),
  'PATCH /api/admin/users/:id': ({ userId: id }) => ({ params: { id }, body: { plan: 'solo' } }),
  'PATCH /api/agents/:id': agentWith({ name: 'stolen' }),
  'PUT /api/agents/:id/config': agentWith({ model: { default: 'stolen' } }),
  'PUT /api/agents/:id/payment-policy': agentWith({ perPayment: '2' }),
  'POST /api/agents/:id/payments/:paymentId': ({ agentId: id, paymentId }) => ({
    params: { id, paymentId },
    body: { decision: 'deny' },
  }),
  'PUT /api/agents/:id/purpose': agentWith({ instruction: 'stolen' }),
  'POST /api/access': only({ note: 'stolen' }),
  'PUT /api/admin/joining': only({ mode: 'open', plan: null, days: null }),
  'POST /api/admin/access/:id': ({ userId: id }) => ({ params: { id }, body: { grant: 'network' } }),
  'GET /api/live': ({ agentId, conversationId }) => ({ query: { watch: `${agentId}:${conversationId}:0` } }),
  'POST /api/agents/:id/messages': ({ agentId: id, conversationId: sessionId }) => [
    { params: { id }, body: { message: 'hello', id: 'm-1' } },
    { params: { id }, body: { message: 'hello', id: 'm-2', sessionId } },
  ],
  'DELETE /api/agents/:id/files': (id) => ({ ...agent(id), query: { path: 'x' } }),
  'GET /api/agents/:id/files/content': (id) => ({ ...agent(id), query: { path: 'x' } }),
  'GET /api/agents/:id/files/preview': (id) => ({ ...agent(id), query: { path: 'x' } }),
  'PUT /api/agents/:id/files/content': (id) => ({ ...agent(id), query: { path: 'x' } }),
  'GET /api/agents/:id/search': (id) => ({ ...agent(id), query: { q: 'x' } }),
  'PATCH /api/agents/:id/sessions/:sessionId': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id, sessionId },
    body: { title: 'stolen' },
  }),
  'DELETE /api/agents/:id/sessions/:sessionId': inConversation,
  'POST /api/agents/:id/sessions/:sessionId/skill': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id, sessionId },
    body: { run: 1, by: 'rules' },
  }),
  'GET /api/agents/:id/evaluation-cases': agent,
  'POST /api/agents/:id/evaluation-cases': (id) => ({ ...agent(id), body: EVALUATION_CASE }),
  'POST /api/agents/:id/evaluation-cases/from-run': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id },
    body: { sessionId, run: 1 },
  }),
  'PUT /api/agents/:id/evaluation-cases/:caseId': ({ agentId: id, caseId }) => ({
    params: { id, caseId },
    body: EVALUATION_CASE,
  }),
  'DELETE /api/agents/:id/evaluation-cases/:caseId': ({ agentId: id, caseId }) => ({ params: { id, caseId } }),
  'GET /api/agents/:id/evaluations': agent,
  'POST /api/agents/:id/evaluations': (id) => ({ ...agent(id), body: {} }),
  'GET /api/agents/:id/evaluations/:evaluationId': ({ agentId: id, evaluationId }) => ({
    params: { id, evaluationId },
  }),
  'POST /api/agents/:id/evaluations/:evaluationId/stop': ({ agentId: id, evaluationId }) => ({
    params: { id, evaluationId },
  }),
  'PUT /api/agents/:id/evaluation-gate': (id) => ({ ...agent(id), body: { enabled: true } }),
  'GET /api/agents/:id/sessions/:sessionId/branches': inConversation,
  'POST /api/agents/:id/sessions/:sessionId/branches': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id, sessionId },
    body: { at: 0, message: 'stolen', id: 'b-1' },
  }),
  'GET /api/agents/:id/sessions/:sessionId/export': inConversation,
  'POST /api/agents/:id/sessions/:sessionId/share': inConversation,
  'DELETE /api/agents/:id/shares/:shareId': ({ agentId: id }) => ({ params: { id, shareId: 's' } }),
  'GET /api/shared/:token': () => ({ params: { token: HEX64 } }),
  'POST /api/admin/providers': only({ kind: 'compatible', name: 'stolen', baseUrl: 'http://127.0.0.1:1' }),
  'PATCH /api/admin/providers/:id': () => ({ params: { id: 'p' }, body: { enabled: false } }),
  'DELETE /api/admin/providers/:id': () => ({ params: { id: 'p' } }),
  'POST /api/admin/providers/test': only({ id: 'p' }),
  'GET /api/agents/:id/background': (id) => agent(id),
  'GET /api/agents/:id/background/:taskId': (id) => ({ params: { id: id.agentId, taskId: taskOf(id) } }),
  'POST /api/agents/:id/background/:taskId/stop': (id) => ({ params: { id: id.agentId, taskId: taskOf(id) } }),
  'GET /api/agents/:id/sessions/:sessionId': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id, sessionId },
  }),
  'POST /api/agents/:id/sessions/:sessionId/cancel': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id, sessionId },
  }),
  'POST /api/agents/:id/verify': agentWith(verify),
  'POST /api/agents/provision': only({ name: 'n' }),
  'GET /api/audit': ({ userId }) => ({ query: { userId } }),
  'POST /api/auth/federated/refresh': only({ refreshToken: HEX64 }),
  'POST /api/auth/federated/verify': ({ address }) => ({ body: { fidToken: 'x.y.z', address } }),
  'POST /api/auth/forgot-password': only({ email: 'nobody@example.org' }),
  'GET /api/auth/idp1/callback': () => ({ query: { code: 'c', state: 's' } }),
  'GET /api/auth/idp2/callback': () => ({ query: { code: 'c', state: 's' } }),
  'POST /api/auth/login': ({ email }) => ({ body: { email, password: 'not the password' } }),
  'POST /api/auth/reset-password': only({ token: HEX64, password: 'long enough' }),
  'DELETE /api/auth/sessions/:id': ({ sessionId: id }) => ({ params: { id } }),
  'POST /api/auth/token-gating/verify': ({ address }) => ({ body: { fid: 'f', address } }),
  'GET /api/auth/token-gating/verify': ({ address }) => ({ query: { address } }),
  'POST /api/auth/verify-email': only({ token: HEX64 }),
  'POST /api/auth/verify-email/resend': only({ email: 'nobody@example.org' }),
  'POST /api/billing/checkout': only({ plan: 'solo' }),
  'GET /api/chat': ({ agentId }) => ({ query: { agentId } }),
  'POST /api/chat': ({ agentId }) => ({ body: { agentId, message: 'hello' } }),
  'PUT /api/config': ({ configBackupId: backupId }) => ({ body: { backupId } }),
  'POST /api/config': only({ config: { version: 'v' } }),
  'GET /api/config/backups/:id': ({ configBackupId: id }) => ({ params: { id } }),
  'GET /api/dashboard/cost': () => ({ query: { period: '7d' } }),
  'POST /api/demo/chat': only({ message: 'hello' }),
  'POST /api/devices': ({ pendingDeviceId: deviceId }) =>
    ['approve', 'deny', 'revoke'].map((action) => ({ body: { deviceId, action } })),
  'POST /api/devices/pair': only({ name: 'd' }),
  'GET /api/devices/pair/:deviceId': ({ pendingDeviceId: deviceId }) => ({ params: { deviceId } }),
  'GET /api/heartbeat': ({ agentId }) => ({ query: { agentId } }),
  'POST /api/heartbeat': ({ agentId }) => ({ body: { agentId, frequency: '1d', enabled: false } }),
  'DELETE /api/heartbeat': ({ agentId }) => ({ body: { agentId } }),
  'GET /api/instance/:userId': ({ userId, agentId }) => [{ params: { userId } }, { params: { userId: agentId } }],
  'GET /api/instance/:userId/stats': ({ userId, agentId }) => [{ params: { userId } }, { params: { userId: agentId } }],
  'POST /api/instance/:userId/:action': ({ userId, agentId }) => [
    { params: { userId, action: 'stop' } },
    ...['reset-memory', 'stop', 'restart', 'repair', 'start'].map((action) => ({
      params: { userId: agentId, action },
    })),
  ],
  'POST /api/invite': only({ name: 'n' }),
  'POST /api/invites/verify': only({ token: HEX64 }),
  'PUT /api/model-keys': ({ agentId }) => ({
    body: { provider: 'openai', apiKey: 'k-0123456789', agentIds: [agentId] },
  }),
  'POST /api/model-keys/share': ({ agentId }) => ({ body: { agentId, agentIds: [agentId] } }),
  'POST /api/model-keys/take': ({ agentId }) => ({ body: { agentIds: [agentId] } }),
  'POST /api/model-keys/test': ({ agentId }) => ({ body: { agentId } }),
  'POST /api/keys': only({ name: 'n' }),
  'GET /api/keys/:id': ({ keyId: id }) => ({ params: { id } }),
  'DELETE /api/keys/:id': ({ keyId: id }) => ({ params: { id } }),
  'POST /api/keys/validate': only({ apiKey: `sk_${HEX64}` }),
  'GET /api/memory': ({ agentId }) => ({ query: { agentId } }),
  'POST /api/memory': ({ agentId }) => ({ body: { agentId, key: 'k', memory: 'stolen' } }),
  'DELETE /api/memory': ({ agentId }) => ({ body: { agentId, key: 'k' } }),
  'POST /api/webhooks': only({ url: 'https://127.0.0.1:1/', events: ['payment.failed'] }),
  'PATCH /api/webhooks/:id': ({ webhookId: id }) => ({ params: { id }, body: { url: 'https://127.0.0.1:2/' } }),
  'DELETE /api/webhooks/:id': ({ webhookId: id }) => ({ params: { id } }),
  'POST /api/webhooks/:id/rotate': ({ webhookId: id }) => ({ params: { id } }),
  'POST /api/webhooks/:id/test': ({ webhookId: id }) => ({ params: { id } }),
  'GET /api/webhooks/:id/deliveries': ({ webhookId: id }) => ({ params: { id } }),
  'POST /api/webhooks/:id/deliveries/:deliveryId/replay': ({ webhookId: id, deliveryId }) => ({
    params: { id, deliveryId },
  }),
  'POST /api/paygate': ({ agentId, address: walletAddress }) => [
    { body: { action: 'endpoints' } },
    ...['fitness', 'pricing', 'join-colony', 'pay'].map((action) => ({
      body: { action, agentId, walletAddress, amount: 1, recipient: ADDRESS },
    })),
  ],
  'POST /api/provision': only({ channelTokenA: '1:a', name: 'n', autoProvision: false, channelUserId: 'c' }),
  'POST /api/provision/team/preview': only({ yaml_config: 'agents: { root: {} }' }),
  'POST /api/provision/team': only({ plan: 'network', templateKey: 'dev_team' }),
  'POST /api/register': ({ email }) => ({ body: { email, password: 'long enough', inviteToken: HEX64 } }),
  'GET /api/scheduled-tasks': ({ agentId }) => ({ query: { agentId } }),
  'POST /api/scheduled-tasks': ({ agentId }) => ({
    body: { agentId, name: 'n', prompt: 'p', cronSchedule: '0 0 1 1 *' },
  }),
  'PUT /api/scheduled-tasks': ({ taskId }) => ({ body: { taskId, enabled: false } }),
  'DELETE /api/scheduled-tasks': ({ taskId }) => [{ query: { taskId }, body: { taskId } }],
  'GET /api/scheduled-tasks/:id/runs': ({ taskId: id }) => ({ params: { id } }),
  'PATCH /api/settings': only({ name: 'n' }),
  'POST /api/settings': only({ name: 'n' }),
  'POST /api/account/close': only({}),
  'POST /api/auth/second-step': only({ code: '000000' }),
  'POST /api/auth/passkey': only({ passkey: assertion }),
  'POST /api/auth/confirm': only({ code: '000000' }),
  'POST /api/settings/factors/totp': only({ name: 'stolen' }),
  'POST /api/settings/factors/totp/:id': ({ factorId: id }) => ({ params: { id }, body: { code: '000000' } }),
  'POST /api/settings/factors/passkeys': only({ name: 'stolen', passkey: attestation }),
  'DELETE /api/settings/factors/:id': ({ factorId: id }) => ({ params: { id } }),
  'DELETE /api/admin/users/:id/factors': ({ userId: id }) => ({ params: { id } }),
  'POST /api/settings/password': only({ currentPassword: 'not the password', newPassword: 'long enough' }),
  'POST /api/v1/gateway': ({ paymentSessionId }): Example[] => [
    { body: { plugin: 'agent' }, headers: { 'x-payment-method': 'session', 'x-session-id': paymentSessionId } },
    { body: { plugin: 'agent' }, headers: { 'x-payment-method': 'card' } },
  ],
  'GET /api/wallet': ({ address }) => [{ query: { address } }, {}],
  'POST /api/wallet': () => ['create', 'get_seed', 'export_seed'].map((action) => ({ body: { action } })),
  'POST /api/wallet-auth': ({ address }) => ({ body: { address, message: 'm', signature: SIGNATURE } }),
  'POST /api/wallet/cdp': only({ privateKey: HASH }),
  'POST /api/wallet/create': ({ email }) => ({ body: { email } }),
  'GET /api/wallet/ledger': ({ address }) => ({ query: { address } }),
  'GET /api/wallet/sessions': ({ address, paymentSessionId: sessionId }): Example[] => [
    { query: { address } },
    { query: { sessionId } },
  ],
  'POST /api/wallet/sessions': ({ address }) => ({ body: { address, deposit: '1.00' } }),
  'DELETE /api/wallet/sessions': ({ paymentSessionId: sessionId }) => ({ query: { sessionId } }),
  'POST /api/wallet/sessions/voucher': ({ paymentSessionId: sessionId, address: userAddress }) => ({
    body: { sessionId, userAddress, plugin: 'agent', nonce: HASH, signature: SIGNATURE },
  }),
  'GET /api/wallet/top-up': ({ address }) => ({ query: { address, amount: '500' } }),
  'GET /api/wallet/transactions': ({ address }) => ({ query: { address } }),
};

const SUMMARIZER: Record<string, Make> = {
  'POST /api/summarize': only(page),
  'POST /api/extract': only(page),
};

export const EXAMPLES: Record<string, Record<string, Make>> = { web: WEB, backend: BACKEND, summarizer: SUMMARIZER };

/** What is done with an agent and takes nothing else needs no line of its own. */
const OF_AGENT = /^\/api\/agents\/:id(\/[a-z/-]+)?$/;

export const exampleOf = ({ service, method, path, body }: Endpoint): Make | undefined =>
  EXAMPLES[service]?.[`${method} ${path}`] ?? (OF_AGENT.test(path) && body === undefined ? agent : undefined);
