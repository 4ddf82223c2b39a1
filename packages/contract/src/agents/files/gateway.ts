import { z } from 'zod';
import { success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { PROXY } from '../gateway.ts';
import {
  FILE_ERRORS,
  PACK_ERRORS,
  inFolder,
  listing,
  ofFile,
  preview as previewed,
  putting,
  stored,
  TOO_LARGE,
} from './fields.ts';

/** What stands behind web's endpoints, in the agent's gateway. */
const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  params: z.object({ agentId: z.string() }),
  errors: {
    ...FILE_ERRORS,
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    502: ['Agent is not running'],
  },
} as const;

export const list = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files`,
  summary: 'What is in a folder of the workspace',
  query: inFolder,
  reply: listing,
});

export const find = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files/find`,
  summary: 'Files of the workspace by pattern, for tasks that start when one arrives',
  query: z.object({ pattern: z.string(), since: z.number().describe('What changed later is told with a mark') }),
  reply: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        bytes: z.number(),
        changedAt: z.number(),
        mark: z.string().optional(),
        fresh: z.boolean().optional(),
      }),
    ),
  }),
  errors: {
    ...gateway.errors,
    400: [
      ...gateway.errors[400],
      'pattern is not valid',
      'since is not valid',
      'More than <n> files match: narrow the pattern',
      'The pattern stands for more than <n> others. Use fewer {…}.',
    ],
  },
});

export const read = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files/content`,
  summary: 'A file as it is',
  query: ofFile,
  produces: 'application/octet-stream',
});

export const preview = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files/preview`,
  summary: 'What a PDF says and what is in an archive',
  query: ofFile,
  reply: previewed,
});

export const pack = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files/zip`,
  summary: 'A folder as a zip',
  query: inFolder,
  produces: 'application/zip',
  errors: { ...gateway.errors, 400: [...gateway.errors[400], ...PACK_ERRORS] },
});

export const put = endpoint({
  ...gateway,
  method: 'PUT',
  path: `${PROXY}/files/content`,
  summary: 'Store a file; its bytes are the body',
  query: putting,
  reply: stored,
  status: 201,
  rawBody: 'bytes',
  errors: { ...gateway.errors, 413: [TOO_LARGE] },
});

export const remove = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${PROXY}/files`,
  summary: 'Delete a file or a folder',
  query: ofFile,
  reply: success,
});
