import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import {
  anyQuery,
  listQuery,
  managed,
  metadata,
  metadataChange,
  metadataTold,
  NOT_YOURS,
  PAGE_TEXTS,
  pageOf,
  pageQuery,
  timesTold,
} from './fields.ts';

/** Memory stores: trees of texts that sessions read and write, with what each text was before. */

const MEMORY_BYTES = 102_400;
export const STORE_MB = 16;
const LARGE = 'content may have 102,400 bytes';
const PATH =
  'path must begin with / and have 1 to 20 parts, none of them empty, . or .., 1,024 bytes at most, in normal form C, without control characters';
const PREFIX = 'path_prefix must begin and end with /';
const DEPTH = 'depth must be 0 or 1';
const FULL_LIMIT = 'limit must be 20 at most where contents are shown';

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;
const ODD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function isPath(path: string): boolean {
  const [first, ...parts] = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  const isInside = first === '' && parts.length >= 1 && parts.length <= 20 && isPlain;
  return isInside && !ODD.test(path) && path === path.normalize('NFC') && bytesOf(path) <= 1024;
}

/** Of a text in a store. */
export const storePath = z.string(PATH).max(1024, PATH).refine(isPath, PATH);
export const storeContent = z
  .string()
  .max(MEMORY_BYTES, LARGE)
  .refine((text) => bytesOf(text) <= MEMORY_BYTES, LARGE);

const name = z.string().trim().min(1, 'name required').max(200);
const description = z.string().max(4096);
const view = z.enum(['basic', 'full']).optional();
const sha = z.string().regex(/^[0-9a-f]{64}$/, 'a content_sha256 has 64 hexadecimal digits');

const store = z.object({
  type: z.literal('memory_store'),
  id: z.string(),
  name: z.string(),
  description: z.string(),
  metadata: metadataTold,
  ...timesTold,
});
const memory = z.object({
  type: z.literal('memory'),
  id: z.string(),
  memory_store_id: z.string(),
  memory_version_id: z.string(),
  path: z.string(),
  content: z.string().nullable(),
  content_sha256: z.string(),
  content_size_bytes: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
});
const prefix = z.object({ type: z.literal('memory_prefix'), path: z.string() });
const actor = z.looseObject({ type: z.string() });
const version = z.object({
  type: z.literal('memory_version'),
  id: z.string(),
  memory_id: z.string(),
  memory_store_id: z.string(),
  operation: z.enum(['created', 'modified', 'deleted']),
  path: z.string().nullable(),
  content: z.string().nullable(),
  content_sha256: z.string().nullable(),
  content_size_bytes: z.number().nullable(),
  created_by: actor,
  created_at: z.string(),
  redacted_at: z.string().nullable(),
  redacted_by: actor.nullable(),
});

const NO_STORE = 'Memory store not found';
const NO_MEMORY = 'Memory not found';
const NO_VERSION = 'Memory version not found';
const ARCHIVED = 'The memory store is archived';
const errors = { 400: [NOT_YOURS], 404: [NO_STORE] };
/** What writing to a store may say, whoever writes. */
export const STORE_TEXTS = {
  409: [
    'The path <path> is taken by <other path>',
    'The memory is another one meanwhile',
    `A memory store may have ${STORE_MB} MB with what was there before: delete memories, or make another store`,
  ],
  429: ['At most 2,000 memories of a store'],
} as const;
const writing = { 400: [NOT_YOURS, ARCHIVED], 404: [NO_STORE, NO_MEMORY], ...STORE_TEXTS };

export const createStore = endpoint({
  ...managed.make,
  path: '/v1/memory_stores',
  summary: 'A tree of texts that sessions are given, to read and to write',
  body: z.object({ name, description: description.nullish(), metadata: metadata.nullish() }),
  reply: store,
  errors: { 400: [NOT_YOURS], 404: ['User not found'], 429: ['At most 100 memory stores'] },
});

export const getStore = endpoint({
  ...managed.read,
  path: '/v1/memory_stores/:id',
  summary: 'A memory store',
  reply: store,
  errors,
});

export const updateStore = endpoint({
  ...managed.change,
  path: '/v1/memory_stores/:id',
  summary: 'Change a memory store’s name, description and metadata; sessions that have it keep what they were told',
  body: z.object({ name: name.nullish(), description: description.nullish(), metadata: metadataChange.nullish() }),
  reply: store,
  errors,
});

const BAD_TIME = 'created_at must be a time in ISO 8601, with its zone';
const time = z.iso.datetime({ offset: true, error: BAD_TIME }).optional();
const period = { 'created_at[gte]': time, 'created_at[lte]': time };

export const listStores = endpoint({
  ...managed.list,
  path: '/v1/memory_stores',
  summary: 'Memory stores, the newest first',
  query: listQuery.extend(period),
  reply: pageOf(store),
  errors: { 400: [...PAGE_TEXTS, BAD_TIME] },
});

export const archiveStore = endpoint({
  ...managed.change,
  path: '/v1/memory_stores/:id/archive',
  summary: 'Write no more to a memory store; sessions that have it can still read it',
  reply: store,
  errors,
});

export const deleteStore = endpoint({
  ...managed.remove,
  path: '/v1/memory_stores/:id',
  summary: 'Delete a memory store with all that is and was in it',
  reply: z.object({ id: z.string(), type: z.literal('memory_store_deleted') }),
  errors,
});

const oneMemory = {
  path: '/v1/memory_stores/:id/memories/:memoryId',
  params: z.object({ id: z.string().min(1).max(200), memoryId: z.string().min(1).max(200) }),
} as const;
const seen = anyQuery.extend({ view });

export const createMemory = endpoint({
  ...managed.change,
  path: '/v1/memory_stores/:id/memories',
  summary: 'Put a text into a memory store, where no other is',
  query: seen,
  body: z.object({ path: storePath, content: storeContent.nullable() }),
  reply: memory,
  errors: writing,
});

export const getMemory = endpoint({
  ...managed.read,
  ...oneMemory,
  summary: 'A text of a memory store',
  query: seen,
  reply: memory,
  errors: { 400: [NOT_YOURS], 404: [NO_STORE, NO_MEMORY] },
});

export const updateMemory = endpoint({
  ...managed.change,
  ...oneMemory,
  summary: 'Change a text or its path; with `precondition`, only if it is what the caller has seen',
  query: seen,
  body: z.object({
    path: storePath.nullish(),
    content: storeContent.nullish(),
    precondition: z.object({ type: z.literal('content_sha256'), content_sha256: sha.optional() }).nullish(),
  }),
  reply: memory,
  errors: writing,
});

export const listMemories = endpoint({
  ...managed.listWithin,
  path: '/v1/memory_stores/:id/memories',
  summary: 'Texts of a memory store by path; with `depth=1` what lies deeper is told as prefixes',
  query: pageQuery
    .extend({
      view,
      depth: z.enum(['0', '1'], DEPTH).default('0'),
      path_prefix: z
        .string()
        .max(1024, PREFIX)
        .regex(/^\/(?:.*\/)?$/s, PREFIX)
        .optional(),
    })
    .refine(({ view: wanted, limit }) => wanted !== 'full' || limit <= 20, FULL_LIMIT),
  reply: pageOf(z.union([memory, prefix])),
  errors: { 400: PAGE_TEXTS, 404: [NO_STORE] },
});

export const deleteMemory = endpoint({
  ...managed.remove,
  ...oneMemory,
  summary: 'Delete a text; what it was can still be read among the versions',
  query: anyQuery.extend({ expected_content_sha256: sha.optional() }),
  reply: z.object({ id: z.string(), type: z.literal('memory_deleted') }),
  errors: writing,
});

const oneVersion = {
  path: '/v1/memory_stores/:id/memory_versions/:versionId',
  params: z.object({ id: z.string().min(1).max(200), versionId: z.string().min(1).max(200) }),
} as const;
const versionErrors = { 400: [NOT_YOURS], 404: [NO_STORE, NO_VERSION] };

export const getVersion = endpoint({
  ...managed.read,
  ...oneVersion,
  summary: 'What a text was at some time, and who made it so',
  query: seen,
  reply: version,
  errors: versionErrors,
});

export const listVersions = endpoint({
  ...managed.listWithin,
  path: '/v1/memory_stores/:id/memory_versions',
  summary: 'What happened in a memory store, the newest first; of each text the last ten, for 30 days',
  query: pageQuery
    .extend({
      ...period,
      view,
      memory_id: z.string().max(200).optional(),
      operation: z.enum(['created', 'modified', 'deleted']).optional(),
      session_id: z.string().max(200).optional(),
      api_key_id: z.string().max(200).optional(),
    })
    .refine(({ view: wanted, limit }) => wanted !== 'full' || limit <= 20, FULL_LIMIT),
  reply: pageOf(version),
  errors: { 400: [...PAGE_TEXTS, BAD_TIME], 404: [NO_STORE] },
});

export const redactVersion = endpoint({
  ...managed.change,
  ...oneVersion,
  path: `${oneVersion.path}/redact`,
  summary: 'Forget what a text was; what it is now is changed or deleted first',
  reply: version,
  errors: { ...versionErrors, 400: [NOT_YOURS, 'It is what the memory is now: change or delete the memory first'] },
});
