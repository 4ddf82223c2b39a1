import type { Example, Make } from './example.ts';
import type { OwnerIds } from './world.ts';

const collection = ({ collectionId: id }: OwnerIds): Example => ({ params: { id } });
const document = ({ documentId: id }: OwnerIds): Example => ({ params: { id } });

/** Collections of documents and what is found in them; how memories are searched and filled. */
export const KNOWLEDGE_WEB: Record<string, Make> = {
  'POST /api/knowledge': () => ({ body: { name: 'mine' } }),
  'PATCH /api/knowledge/:id': (id) => ({ ...collection(id), body: { name: 'stolen' } }),
  'DELETE /api/knowledge/:id': collection,
  'GET /api/knowledge/:id/documents': collection,
  'POST /api/knowledge/:id/documents/file': (id) => ({ ...collection(id), query: { name: 'a.txt' } }),
  'POST /api/knowledge/:id/documents': (id) => ({ ...collection(id), body: { text: 'stolen' } }),
  'GET /api/knowledge/documents/:id': document,
  'PATCH /api/knowledge/documents/:id': (id) => ({ ...document(id), body: { everyHours: 1 } }),
  'POST /api/knowledge/documents/:id/read': document,
  'DELETE /api/knowledge/documents/:id': document,
  'GET /api/knowledge/search': ({ collectionId: collection }) => ({ query: { query: 'owned', collection } }),
  'GET /api/knowledge/documents/:id/passages/:index': ({ documentId: id }) => ({ params: { id, index: '0' } }),
  'PUT /api/agents/:id/knowledge/:collectionId': ({ agentId: id, collectionId }) => ({
    params: { id, collectionId },
    body: {},
  }),
  'DELETE /api/agents/:id/knowledge/:collectionId': ({ agentId: id, collectionId }) => ({
    params: { id, collectionId },
  }),
  'GET /api/agents/:id/memory': ({ agentId: id }) => ({ params: { id } }),
  'PUT /api/agents/:id/memory': ({ agentId: id }) => ({ params: { id }, body: { facts: true } }),
  'POST /api/agents/:id/memory/facts/:factId': ({ agentId: id, factId }) => ({
    params: { id, factId },
    body: { keep: 'all' },
  }),
};

export const KNOWLEDGE_BACKEND: Record<string, Make> = {
  'GET /api/runtime/proxy/:agentId/memory/care': ({ agentId }) => ({ params: { agentId } }),
  'POST /api/runtime/proxy/:agentId/memory/facts/:factId': ({ agentId, factId }) => ({
    params: { agentId, factId },
    body: { keep: 'all' },
  }),
  'POST /v1/knowledge/search': ({ agentId }) => ({ body: { query: 'owned' }, headers: { 'x-agent-id': agentId } }),
  'POST /v1/knowledge/find': ({ collectionId }) => ({
    body: { collections: [collectionId], query: 'owned', limit: 10 },
  }),
  'POST /v1/knowledge/read': ({ agentId, documentId }) => ({
    body: { document: documentId, index: 0 },
    headers: { 'x-agent-id': agentId },
  }),
};
