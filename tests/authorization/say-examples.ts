import type { Make } from './example.ts';

const plan = {
  name: 'Scout',
  model: 'sandbox/echo',
  instruction: 'Help.',
  tools: [],
  task: null,
  tells: null,
  capUsd: 1,
};

/** Plans in words, the search, comparisons, tags of agents and copies. */
export const SAY_WEB: Record<string, Make> = {
  'GET /api/search': () => ({ query: { q: 'x' } }),
  'POST /api/say': () => ({ body: { sentence: 'each morning read example.com', by: 'rules' } }),
  'POST /api/say/try': () => ({ body: plan }),
  'POST /api/say/make': () => ({ body: plan }),
  'POST /api/compare': ({ agentId }) => ({
    body: { id: 'x', message: 'hello', sides: [{ agentId }, { agentId }] },
  }),
  'PUT /api/agents/:id/tags': ({ agentId: id }) => ({ params: { id }, body: { tags: ['stolen'] } }),
  'POST /api/agents/:id/duplicate': ({ agentId: id }) => ({ params: { id }, body: { name: 'stolen' } }),
};

export const SAY_BACKEND: Record<string, Make> = {
  'POST /api/say/try': () => ({
    body: {
      name: 'Scout',
      plan: 'solo',
      model: 'sandbox/echo',
      instruction: 'Help.',
      tools: [],
      message: 'x',
      maxUsd: 0.1,
    },
  }),
};
