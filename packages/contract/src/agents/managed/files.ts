import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { FILE_BYTES, TOO_LARGE } from '../files/fields.ts';
import { anyQuery, managed, NOT_YOURS, pageOf, PAGE_TEXTS, pageQuery } from './fields.ts';

/** Files that a client of Anthropic's API keeps, to give them to sessions. Clients of OpenAI look at the same address. */

export const FILES_MB = 500;
const OTHER = 'Files are there for clients of Anthropic’s API';
const FORM_BYTES = FILE_BYTES + 256 * 1024;

const file = z.object({
  type: z.literal('file'),
  id: z.string(),
  filename: z.string(),
  mime_type: z.string(),
  size_bytes: z.number(),
  created_at: z.string(),
  downloadable: z.literal(true),
  expires_at: z.string().nullable(),
  scope: z.null(),
});
const either = { errorShape: 'either' } as const;
const errors = { 400: [NOT_YOURS], 404: [OTHER, 'File not found'] };

export const uploadFile = endpoint({
  ...managed.make,
  ...either,
  path: '/v1/files',
  summary: 'Keep a file: a form with `file` and, if it is to go by itself, `expires_in_seconds`',
  query: anyQuery,
  reply: file,
  rawBody: 'form',
  bodyLimit: FORM_BYTES,
  errors: {
    400: [
      NOT_YOURS,
      'Content-Type must be multipart/form-data',
      'The form is not valid',
      'A form may have <n> parts',
      'A field of a form may have <n> bytes',
      'file required',
      'expires_in_seconds must be a number from 60 to 31536000',
      '<field>: not known here',
    ],
    404: [OTHER, 'User not found'],
    413: [TOO_LARGE],
    429: [
      'At most 1,000 files',
      `Files may have ${FILES_MB} MB together`,
      'At most <n> requests of more than 1 MB at a time',
    ],
  },
});

export const listFiles = endpoint({
  ...managed.list,
  ...either,
  path: '/v1/files',
  summary: 'Files that are kept, the newest first',
  query: pageQuery,
  reply: pageOf(file),
  errors: { 400: PAGE_TEXTS, 404: [OTHER] },
});

export const getFile = endpoint({
  ...managed.read,
  ...either,
  path: '/v1/files/:id',
  summary: 'What is known of a file',
  reply: file,
  errors,
});

export const downloadFile = endpoint({
  ...managed.read,
  ...either,
  path: '/v1/files/:id/content',
  summary: 'A file as it was given',
  produces: 'application/octet-stream',
  errors: { ...errors, 429: ['At most <n> requests of more than 1 MB at a time'] },
});

export const deleteFile = endpoint({
  ...managed.remove,
  ...either,
  path: '/v1/files/:id',
  summary: 'Delete a file; what sessions have of it stays',
  reply: z.object({ id: z.string(), type: z.literal('file_deleted') }),
  errors,
});
