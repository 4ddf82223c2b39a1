import type { Make } from './example.ts';

/** What things cost, and the browsers that are told. */
export const COSTS_WEB: Record<string, Make> = {
  'GET /api/costs': ({ agentId: id }) => ({ query: { by: 'agent', id } }),
  'GET /api/costs/export': () => ({ query: { by: 'agent' } }),
  'GET /api/admin/costs': ({ agentId: id }) => ({ query: { by: 'agent', id } }),
  'GET /api/admin/costs/export': () => ({ query: { by: 'agent' } }),
  'GET /api/usage/by-agent/:agentId': ({ agentId }) => ({ params: { agentId } }),
  'PUT /api/usage/caps': ({ agentId, teamId }) => [
    { body: { scope: 'agent', agentId, limitUsd: 1 } },
    { body: { scope: 'team', teamId, limitUsd: 1 } },
  ],
  'GET /api/usage/summary': ({ agentId }) => ({ query: { agentId } }),
  'GET /api/usage/tools': ({ agentId }) => ({ query: { agentId } }),
  'POST /api/push/subscriptions': () => ({
    body: {
      endpoint: 'https://127.0.0.1:1/',
      keys: {
        p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
    },
  }),
  'DELETE /api/push/subscriptions/:id': ({ pushId: id }) => ({ params: { id } }),
};
