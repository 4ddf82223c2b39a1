import { z } from 'zod';
import { nullableTimestamp, timestamp } from '../../common.ts';

/** What is said about collections of documents. */

export const COLLECTION_NOT_FOUND = 'Collection not found';
export const DOCUMENT_NOT_FOUND = 'Document not found';
export const TOO_MANY_COLLECTIONS_TEXT = 'An agent has <n> collections at most';
export const PASSAGE_NOT_FOUND = 'Passage not found';

/** Of one user. */
export const MOST_COLLECTIONS = 50;
export const MOST_DOCUMENTS = 5000;
export const MOST_PASSAGES = 200_000;
/** Documents that wait to be read. */
export const MOST_WAITING = 100;
export const MAX_DOCUMENT_MB = 25;

export const collection = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  documents: z.number(),
  waiting: z.number().describe('Documents that are not read yet'),
  failed: z.number(),
  passages: z.number(),
  agents: z.array(z.object({ id: z.string(), name: z.string() })).describe('Agents that may search it'),
  embeddings: z
    .string()
    .nullable()
    .describe('The model that makes numbers of its passages; null: it is searched by words'),
  embedded: z.number().describe('Passages that are found by meaning'),
  meaningNote: z.string().nullable().describe('What its owner should know about the search by meaning'),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type KnowledgeCollection = z.output<typeof collection>;

export const document = z.object({
  id: z.string(),
  name: z.string(),
  title: z.string().nullable(),
  source: z.enum(['file', 'text', 'url']),
  url: z.string().nullable(),
  kind: z.string().nullable().describe('text, markdown, html, pdf, docx, xlsx, pptx, csv or email, as its bytes say'),
  state: z.enum(['waiting', 'ready', 'failed']),
  error: z.string().nullable().describe('Why it could not be read, the last time'),
  notes: z.array(z.string()).describe('What was left out'),
  bytes: z.number(),
  passages: z.number(),
  everyHours: z.number().nullable().describe('Read again so often; null: never'),
  readAt: nullableTimestamp,
  nextReadAt: nullableTimestamp,
  createdAt: timestamp,
});
export type KnowledgeDocument = z.output<typeof document>;

export const passage = z.object({
  documentId: z.string(),
  document: z.string(),
  url: z.string().nullable(),
  collectionId: z.string(),
  collection: z.string(),
  index: z.number().describe('Its place in the document, from 0'),
  of: z.number().describe('How many passages the document has'),
  place: z.string().describe('Page, sheet or slide'),
  heading: z.string(),
  text: z.string(),
});
export const hit = passage.extend({ score: z.number() });

export const question = z
  .string({ error: 'query required' })
  .trim()
  .min(1, 'query required')
  .max(1000, 'query too long (max 1000)');

export const givenCollection = z.object({ id: z.string(), name: z.string(), description: z.string(), on: z.boolean() });

export const collectionChange = z
  .object({ id: z.string().max(100), on: z.boolean() })
  .describe('A collection of its owner’s documents, given or taken away');
