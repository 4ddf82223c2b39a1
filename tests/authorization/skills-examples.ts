import type { Make } from './example.ts';

/** Skills of the library, and those that wait to be looked at. */
export const SKILLS_WEB: Record<string, Make> = {
  'POST /api/skills/reviews': () => [
    { body: { builtIn: 'none' } },
    { body: { files: [{ path: 'SKILL.md', content: '---\nname: a\ndescription: b\n---\n' }] } },
  ],
  'POST /api/skills/reviews/archive': () => ({}),
  'POST /api/imports': () => ({}),
  'POST /api/imports/preview': () => ({}),
  'GET /api/skills/reviews/:id': ({ reviewId: id }) => ({ params: { id } }),
  'GET /api/skills/reviews/:id/file': ({ reviewId: id }) => ({ params: { id }, query: { path: 'SKILL.md' } }),
  'POST /api/skills/reviews/:id/accept': ({ reviewId: id, skillDigest: digest }) => ({
    params: { id },
    body: { digest },
  }),
  'DELETE /api/skills/reviews/:id': ({ reviewId: id }) => ({ params: { id } }),
  'GET /api/agents/:id/document': ({ agentId: id }) => ({ params: { id } }),
  'GET /api/skills/:id': ({ skillId: id }) => ({ params: { id } }),
  'GET /api/skills/:id/file': ({ skillId: id }) => ({ params: { id }, query: { path: 'SKILL.md' } }),
  'DELETE /api/skills/:id': ({ skillId: id }) => ({ params: { id } }),
  'PUT /api/agents/:id/skills/:skillId': ({ agentId: id, skillId }) => ({ params: { id, skillId }, body: {} }),
  'DELETE /api/agents/:id/skills/:skillId': ({ agentId: id, skillId }) => ({ params: { id, skillId } }),
};
