import type { Make } from './example.ts';

/** What waits for a person, and what they did with it. */
export const INBOX_WEB: Record<string, Make> = {
  'POST /api/agents/:id/approvals/:approvalId': ({ agentId: id, approvalId }) => ({
    params: { id, approvalId },
    body: { approved: true },
  }),
  'GET /api/agents/:id/approvals/:approvalId/rules': ({ agentId: id, approvalId }) => ({ params: { id, approvalId } }),
  'PUT /api/inbox/marks/:item': ({ approvalId: item, conversationId }) => ({
    params: { item },
    body: { state: 'done', words: 'stolen', taskId: `task-${conversationId}` },
  }),
  'GET /api/agents/:id/sessions/:sessionId/files': ({ agentId: id, conversationId: sessionId }) => ({
    params: { id, sessionId },
  }),
  'PUT /api/inbox/marks': ({ approvalId: item }) => ({ body: { items: [{ item, words: 'stolen' }], state: 'done' } }),
  'POST /api/inbox/decisions': ({ agentId, approvalId: id }) => ({
    body: { items: [{ id, agentId }], approved: true },
  }),
  'DELETE /api/inbox/marks/:item': ({ approvalId: item }) => ({ params: { item } }),
  'POST /api/notices/read': ({ noticeId }) => ({ body: { ids: [noticeId] } }),
};
