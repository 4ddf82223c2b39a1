import { z } from 'zod';
import { success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND, forceQuery, NOT_PASSED_TEXTS } from '../fields.ts';
import {
  FILE_BYTES,
  inFolder,
  listing,
  ofFile,
  PACKED_FILES,
  PACKED_MB,
  preview as previewed,
  putting,
  stored,
  TOO_LARGE,
} from './fields.ts';
import * as gateway from './gateway.ts';

const base = {
  service: 'web',
  auth: 'session',
  tag: 'Files',
  params: z.object({ id: z.string() }),
  errors: { 404: [AGENT_NOT_FOUND], 502: ['Agent backend unavailable', 'Agent is not running'] },
} as const;

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/files',
  summary: 'What is in a folder of an agent’s workspace, by name; at most 2,000 entries',
  query: inFolder,
  reply: listing,
  passesOn: () => [gateway.list],
});

export const read = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/files/content',
  summary: 'A file as it is, to be saved. Pictures and text can be shown with `show=true`; nothing of it ever runs',
  query: ofFile.extend({ show: z.enum(['true']).optional() }),
  produces: 'application/octet-stream',
  passesOn: () => [gateway.read],
});

export const preview = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/files/preview',
  summary: 'The words of a PDF page by page, and what is in an archive, without unpacking it',
  query: ofFile,
  reply: previewed,
  passesOn: () => [gateway.preview],
});

export const pack = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/files/zip',
  // by hand: asking for a text of this language loads 8 MB of them, at each start
  summary: `A folder of the workspace as a zip; at most ${PACKED_FILES / 1000},000 files and ${PACKED_MB} MB`,
  query: inFolder,
  produces: 'application/zip',
  passesOn: () => [gateway.pack],
});

export const put = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id/files/content',
  summary: 'Store a file in the workspace; its bytes are the body, as application/octet-stream',
  query: putting.extend(forceQuery.shape),
  reply: stored,
  status: 201,
  rawBody: 'bytes',
  bodyLimit: FILE_BYTES,
  errors: {
    ...base.errors,
    400: ['Content-Type must be application/octet-stream'],
    409: NOT_PASSED_TEXTS,
    413: [TOO_LARGE],
  },
  passesOn: () => [gateway.put],
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/files',
  summary: 'Delete a file, or a folder with all that is in it',
  query: ofFile.extend(forceQuery.shape),
  reply: success,
  errors: { ...base.errors, 409: NOT_PASSED_TEXTS },
  passesOn: () => [gateway.remove],
});
