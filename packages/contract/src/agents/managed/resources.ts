import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { FILE_ERRORS, TOO_LARGE } from '../files/fields.ts';
import { managed, NOT_YOURS, pageOf, PAGE_TEXTS, REACH_ERRORS } from './fields.ts';

/** Files of a session: they lie in its agent's workspace. */

const ONLY_FILES =
  'resources must be of type file or, where a session begins, memory_store; a repository is fetched by the agent itself';
const MOUNT = 'mount_path is a path inside of the agent’s workspace';
const ARCHIVED = 'The session is archived';

const resourceParams = z.object({
  type: z.literal('file', ONLY_FILES),
  file_id: z.string().min(1).max(200),
  mount_path: z.string(MOUNT).trim().min(1, MOUNT).max(500, MOUNT).nullish(),
});
/** What a session begins with. */
export const firstResource = z.discriminatedUnion(
  'type',
  [
    resourceParams,
    z.object({
      type: z.literal('memory_store'),
      memory_store_id: z.string().min(1).max(200),
      access: z.enum(['read_write', 'read_only']).nullish(),
      instructions: z.string().max(4096).nullish(),
    }),
  ],
  ONLY_FILES,
);
export const MOST_RESOURCES = 20;
export const MOST_STORES = 8;

const file = z.object({
  type: z.literal('file'),
  id: z.string(),
  file_id: z.string(),
  mount_path: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
const store = z.object({
  type: z.literal('memory_store'),
  memory_store_id: z.string(),
  name: z.string(),
  description: z.string(),
  instructions: z.string().nullable(),
  access: z.enum(['read_write', 'read_only']),
  mount_path: z.null(),
});
const none = 'Resource not found';
const ofSession = [AGENT_NOT_FOUND, 'Session not found'];
const one = z.object({ id: z.string().min(1).max(200), resourceId: z.string().min(1).max(200) });

/** What putting a file into a workspace may say. */
export const PUT_ERRORS = {
  ...REACH_ERRORS,
  400: FILE_ERRORS[400],
  404: [...ofSession, 'File not found'],
  409: FILE_ERRORS[409],
  413: [TOO_LARGE],
  422: FILE_ERRORS[422],
  429: ['At most 100 files of a session', 'At most <n> requests of more than 1 MB at a time'],
} as const;

export const addResource = endpoint({
  ...managed.change,
  path: '/v1/sessions/:id/resources',
  summary: 'Put a file that is kept into the workspace of the session’s agent; the reply says under which name',
  body: resourceParams,
  reply: file,
  errors: { ...PUT_ERRORS, 400: [NOT_YOURS, ARCHIVED, ...PUT_ERRORS[400]] },
});

export const listResources = endpoint({
  ...managed.listWithin,
  path: '/v1/sessions/:id/resources',
  summary: 'Memory stores and files that a session was given, the oldest first',
  reply: pageOf(z.union([file, store])),
  errors: { 400: PAGE_TEXTS, 404: ofSession },
});

export const getResource = endpoint({
  ...managed.read,
  path: '/v1/sessions/:id/resources/:resourceId',
  summary: 'A file that a session was given',
  params: one,
  reply: file,
  errors: { 400: [NOT_YOURS], 404: [...ofSession, none] },
});

export const updateResource = endpoint({
  ...managed.change,
  path: '/v1/sessions/:id/resources/:resourceId',
  summary: 'Refused: there are no repositories whose token could be changed',
  params: one,
  body: z.looseObject({}),
  errors: {
    400: [NOT_YOURS, 'authorization_token: only repositories have one, and they are not taken here'],
    404: [...ofSession, none],
  },
});

export const deleteResource = endpoint({
  ...managed.remove,
  path: '/v1/sessions/:id/resources/:resourceId',
  summary: 'Take a file away from a session, and out of the workspace',
  params: one,
  reply: z.object({ id: z.string(), type: z.literal('session_resource_deleted') }),
  errors: {
    ...REACH_ERRORS,
    400: [NOT_YOURS, ARCHIVED, ...FILE_ERRORS[400]],
    404: [...ofSession, none],
    409: FILE_ERRORS[409],
  },
});
