import { z } from 'zod';
import { AGENT_NOT_FOUND } from './fields.ts';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** The files of an agent: what it wrote, and what its owner gave it. */

/** Of one file that comes in; a plan may say less. */
export const FILE_BYTES = 25 * 1024 * 1024;
/** Of one message. */
export const MOST_ATTACHMENTS = 10;
/** Where files go that come with a message. */
export const UPLOADS = 'uploads';

const NOT_FOUND = 'File not found';
const NO_PATH = 'path required';
const TOO_LARGE = 'A file may have <n> MB at most';

const path = z.string({ error: NO_PATH }).trim().min(1, NO_PATH).max(1000, 'path too long (max 1000)');
const inFolder = z.object({ path: path.optional().describe('A folder of the workspace; its root unless said') });
const ofFile = z.object({ path: path.describe('Relative to the workspace') });
const putting = ofFile.extend({
  fresh: z.enum(['true']).optional().describe('Under a name that is free: `plan-2.pdf` where `plan.pdf` is taken'),
});

const entry = z.object({
  name: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  bytes: z.number(),
  modifiedAt: timestamp,
});
export type FileEntry = z.output<typeof entry>;

const listing = z.object({ path: z.string(), entries: z.array(entry), more: z.boolean() });
const stored = z.object({ path: z.string(), bytes: z.number() });

/** What is wrong with a path or a file; also told of files that a message names. */
export const FILE_ERRORS = {
  400: [
    NO_PATH,
    'path too long (max <n>)',
    'path is not valid',
    '<path> is outside of the workspace',
    '<path> is a folder',
    '<path> is no folder',
    '<path> is not a file',
    '<path> is larger than <n> KB',
    'The workspace itself cannot be removed',
    'The workspace is full',
    'The workspace is full (<n>)',
    'The workspace has folders that are closed or too deep to be measured',
  ],
  404: [AGENT_NOT_FOUND, NOT_FOUND],
  409: ['This agent has no files'],
  422: [
    'This took more than <n> s to compute and was stopped. Ask for less at once.',
    'This took too much memory to compute and was stopped. Ask for less at once.',
  ],
} as const;

const base = {
  service: 'web',
  auth: 'session',
  tag: 'Files',
  params: z.object({ id: z.string() }),
  errors: { 404: [AGENT_NOT_FOUND], 502: ['Agent backend unavailable', 'Agent is not running'] },
} as const;

export const listFiles = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/files',
  summary: 'What is in a folder of an agent’s workspace, by name; at most 2,000 entries',
  query: inFolder,
  reply: listing,
  passesOn: () => [gatewayFiles],
});

export const readFile = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/files/content',
  summary: 'A file as it is, to be saved. Pictures and text can be shown with `show=true`; nothing of it ever runs',
  query: ofFile.extend({ show: z.enum(['true']).optional() }),
  produces: 'application/octet-stream',
  passesOn: () => [gatewayFile],
});

export const putFile = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id/files/content',
  summary: 'Store a file in the workspace; its bytes are the body, as application/octet-stream',
  query: putting,
  reply: stored,
  status: 201,
  rawBody: 'bytes',
  bodyLimit: FILE_BYTES,
  errors: { ...base.errors, 400: ['Content-Type must be application/octet-stream'], 413: [TOO_LARGE] },
  passesOn: () => [gatewayPutFile],
});

export const removeFile = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/files',
  summary: 'Delete a file, or a folder with all that is in it',
  query: ofFile,
  reply: success,
  passesOn: () => [gatewayRemoveFile],
});

/** The parts of the agent's gateway that stand behind these. */
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
const PROXY = '/api/runtime/proxy/:agentId';

export const gatewayFiles = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files`,
  summary: 'What is in a folder of the workspace',
  query: inFolder,
  reply: listing,
});

export const gatewayFile = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/files/content`,
  summary: 'A file as it is',
  query: ofFile,
  produces: 'application/octet-stream',
});

export const gatewayPutFile = endpoint({
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

export const gatewayRemoveFile = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${PROXY}/files`,
  summary: 'Delete a file or a folder',
  query: ofFile,
  reply: success,
});
