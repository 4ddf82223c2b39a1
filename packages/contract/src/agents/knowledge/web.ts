import { z } from 'zod';
import { idParams, success, wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import * as backend from '../agents/backend.ts';
import { AGENT_NOT_FOUND, forceQuery } from '../fields.ts';
import {
  collection,
  COLLECTION_NOT_FOUND,
  document,
  DOCUMENT_NOT_FOUND,
  givenCollection,
  hit,
  MAX_DOCUMENT_MB,
  passage,
  PASSAGE_NOT_FOUND,
  question,
  TOO_MANY_COLLECTIONS_TEXT,
} from './fields.ts';

const base = { service: 'web', tag: 'Knowledge', auth: 'session', errors: { 401: ['Unauthorized'] } } as const;
const ofCollection = { ...base, params: idParams, errors: { ...base.errors, 404: [COLLECTION_NOT_FOUND] } } as const;
const ofDocument = { ...base, params: idParams, errors: { ...base.errors, 404: [DOCUMENT_NOT_FOUND] } } as const;

const name = z.string({ error: 'Name required' }).trim().min(1, 'Name required').max(100, 'Name too long (max 100)');
const description = z.string().trim().max(500, 'Description too long (max 500)');
const TAKEN = 'You have a collection of this name';
const FULL = [
  'Too many documents (max <n>). Delete some first',
  'Too many documents wait to be read (max <n>). Try again later',
  'Your documents have more than <n> passages. Delete some first',
] as const;
const everyHours = z
  .int('everyHours must be a whole number')
  .min(1, 'everyHours must be at least 1')
  .max(8760, 'everyHours must be at most 8760')
  .nullable();

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/knowledge',
  summary: 'Collections of documents',
  reply: z.object({ collections: z.array(collection) }),
});

export const create = endpoint({
  ...base,
  method: 'POST',
  path: '/api/knowledge',
  summary: 'Make a collection',
  body: z.object({ name, description: description.default('') }),
  reply: collection,
  status: 201,
  errors: { ...base.errors, 409: [TAKEN, 'Too many collections (max <n>). Delete one first'] },
});

export const change = endpoint({
  ...ofCollection,
  method: 'PATCH',
  path: '/api/knowledge/:id',
  summary: 'Rename a collection, say what is in it, or by which model it is also searched by meaning',
  body: z.object({
    name: name.optional(),
    description: description.optional(),
    embeddings: z
      .string()
      .trim()
      .min(1, 'embeddings must name a model')
      .max(200, 'embeddings too long (max 200)')
      .nullable()
      .optional()
      .describe('An embeddings model, which is sent the texts and charged as any other call; null: none'),
  }),
  reply: collection,
  errors: { ...ofCollection.errors, 409: [TAKEN] },
});

export const remove = endpoint({
  ...ofCollection,
  method: 'DELETE',
  path: '/api/knowledge/:id',
  summary: 'Delete a collection that no agent has, with all its documents',
  reply: success,
  errors: { ...ofCollection.errors, 409: ['Agents have this collection: <names>. Take it from them first'] },
});

export const listDocuments = endpoint({
  ...ofCollection,
  method: 'GET',
  path: '/api/knowledge/:id/documents',
  summary: 'Documents of a collection, the newest first',
  query: z.object({ limit: wholeQuery(100, 1, 500), offset: wholeQuery(0, 0, 100_000) }),
  reply: z.object({ documents: z.array(document), total: z.number() }),
});

export const upload = endpoint({
  ...ofCollection,
  method: 'POST',
  path: '/api/knowledge/:id/documents/file',
  summary: 'Add a file; its bytes are the body, as application/octet-stream. It is read soon after',
  query: z.object({
    name: z.string({ error: 'name required' }).trim().min(1, 'name required').max(200, 'name too long (max 200)'),
  }),
  reply: document,
  status: 201,
  rawBody: 'bytes',
  bodyLimit: MAX_DOCUMENT_MB * 1024 * 1024,
  errors: {
    ...ofCollection.errors,
    400: ['The file is empty', 'Content-Type must be application/octet-stream'],
    409: FULL,
  },
});

export const add = endpoint({
  ...ofCollection,
  method: 'POST',
  path: '/api/knowledge/:id/documents',
  summary: 'Add a text, or a page by its address',
  body: z
    .object({
      name: z.string().trim().min(1, 'name required').max(200, 'name too long (max 200)').optional(),
      text: z.string().min(1, 'text required').max(2_000_000, 'text too long (max 2000000)').optional(),
      url: z
        .string({ error: 'url must be an http or https address' })
        .max(2000, { error: 'url too long (max 2000)', abort: true })
        .check(z.url({ protocol: /^https?$/, error: 'url must be an http or https address' }))
        .optional(),
      everyHours: everyHours.optional().describe('Read the page again so often'),
    })
    .refine(({ text, url }) => (text === undefined) !== (url === undefined), 'Give one of text and url')
    .refine(({ text, everyHours: hours }) => text === undefined || hours === undefined, 'Only a page is read again'),
  reply: document,
  status: 201,
  bodyLimit: 8 * 1024 * 1024,
  errors: { ...ofCollection.errors, 409: FULL },
});

export const getDocument = endpoint({
  ...ofDocument,
  method: 'GET',
  path: '/api/knowledge/documents/:id',
  summary: 'A document and how it is',
  reply: document,
});

export const changeDocument = endpoint({
  ...ofDocument,
  method: 'PATCH',
  path: '/api/knowledge/documents/:id',
  summary: 'How often a page is read again',
  body: z.object({ everyHours }),
  reply: document,
  errors: { ...ofDocument.errors, 409: ['Only a page is read again'] },
});

export const readAgain = endpoint({
  ...ofDocument,
  method: 'POST',
  path: '/api/knowledge/documents/:id/read',
  summary: 'Read a page again now',
  reply: document,
  errors: { ...ofDocument.errors, 409: ['Only a page is read again'] },
});

export const removeDocument = endpoint({
  ...ofDocument,
  method: 'DELETE',
  path: '/api/knowledge/documents/:id',
  summary: 'Delete a document; it is found no more at once',
  reply: success,
});

export const search = endpoint({
  ...base,
  method: 'GET',
  path: '/api/knowledge/search',
  summary: 'The passages that fit a question best, of one collection or all',
  query: z.object({
    query: question,
    collection: z.string().max(100).optional(),
    limit: wholeQuery(10, 1, 50),
  }),
  reply: z.object({ passages: z.array(hit) }),
  errors: { ...base.errors, 404: [COLLECTION_NOT_FOUND] },
});

export const getPassage = endpoint({
  ...base,
  method: 'GET',
  path: '/api/knowledge/documents/:id/passages/:index',
  summary: 'A passage with those around it',
  params: z.object({ id: z.string(), index: z.string().regex(/^\d{1,6}$/, 'index must be a whole number') }),
  query: z.object({ around: wholeQuery(1, 0, 10) }),
  reply: z.object({ passages: z.array(passage) }),
  errors: { ...base.errors, 404: [PASSAGE_NOT_FOUND] },
});

const away = { 502: ['Agent backend unavailable'] } as const;
const ofAgent = {
  ...base,
  params: z.object({ id: z.string(), collectionId: z.string() }),
  query: forceQuery,
  reply: z.object({ collections: z.array(givenCollection) }),
  passesOn: () => [backend.update],
  errors: { ...base.errors, ...away, 404: [AGENT_NOT_FOUND, COLLECTION_NOT_FOUND] },
} as const;

export const listOfAgent = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/knowledge',
  summary: 'Which collections an agent may search',
  params: idParams,
  reply: ofAgent.reply,
  errors: { ...base.errors, 404: [AGENT_NOT_FOUND] },
});

export const give = endpoint({
  ...ofAgent,
  method: 'PUT',
  path: '/api/agents/:id/knowledge/:collectionId',
  summary: 'Let an agent search a collection; it counts from the next step on',
  body: z.object({}),
  errors: { ...ofAgent.errors, 400: [TOO_MANY_COLLECTIONS_TEXT] },
});

export const take = endpoint({
  ...ofAgent,
  method: 'DELETE',
  path: '/api/agents/:id/knowledge/:collectionId',
  summary: 'Take a collection from an agent',
});
