import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';

/** The files of an agent: what it wrote, and what its owner gave it. */

/** Of one file that comes in; a plan may say less. */
export const FILE_BYTES = 25 * 1024 * 1024;
/** Of one message. */
export const MOST_ATTACHMENTS = 10;
export const TOO_MANY_ATTACHMENTS = `At most ${MOST_ATTACHMENTS} attachments`;
/** Where files go that come with a message. */
export const UPLOADS = 'uploads';

/** Of a name; a disk takes 255, and whoever keeps a file may put something before or after its name. */
const NAME_BYTES = 180;
/** Of the end of a name that is too long, which says what the file is. */
const END_BYTES = 40;

/** As many of these characters as have so many bytes together. */
function within(characters: readonly string[], bytes: number): string[] {
  const encoder = new TextEncoder();
  let room = bytes;
  const end = characters.findIndex((one) => (room -= encoder.encode(one).length) < 0);
  return end < 0 ? [...characters] : characters.slice(0, end);
}

/** A name that a disk takes: of a long one the middle is left out. Letters may have four bytes each. */
export function shortName(name: string): string {
  const sizeOf = (text: string): number => new TextEncoder().encode(text).length;
  if (sizeOf(name) <= NAME_BYTES) return name;
  // More than can be taken of either end, so that no half of a character is.
  const last = within(Array.from(name.slice(-2 * END_BYTES)).toReversed(), END_BYTES);
  const end = last.toReversed().join('');
  return within(Array.from(name.slice(0, 2 * NAME_BYTES)), NAME_BYTES - sizeOf(end)).join('') + end;
}

const NOT_FOUND = 'File not found';
const NO_PATH = 'path required';
export const TOO_LARGE = 'A file may have <n> MB at most';

const path = z.string({ error: NO_PATH }).trim().min(1, NO_PATH).max(1000, 'path too long (max 1000)');
export const inFolder = z.object({ path: path.optional().describe('A folder of the workspace; its root unless said') });
export const ofFile = z.object({ path: path.describe('Relative to the workspace') });
export const putting = ofFile.extend({
  fresh: z.enum(['true']).optional().describe('Under a name that is free: `plan-2.pdf` where `plan.pdf` is taken'),
});

const entry = z.object({
  name: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  bytes: z.number(),
  modifiedAt: timestamp,
});
export type FileEntry = z.output<typeof entry>;

export const listing = z.object({ path: z.string(), entries: z.array(entry), more: z.boolean() });
/** Of a folder that is packed. */
export const PACKED_FILES = 10_000;
export const PACKED_MB = 500;

export const preview = z.object({
  kind: z.enum(['pdf', 'archive', 'picture', 'text', 'other']).describe('By its bytes, not by its name'),
  bytes: z.number(),
  pages: z.array(z.string()).optional().describe('The words of each page of a PDF'),
  entries: z
    .array(z.object({ path: z.string(), kind: entry.shape.kind, bytes: z.number() }))
    .optional()
    .describe('What is in an archive (zip, tar, tar.gz), with the sizes that it claims'),
  total: z.number().optional().describe('How many entries the archive has'),
  more: z.boolean().describe('There is more than is told here'),
  note: z.string().optional().describe('Why there is nothing to show'),
});

export const stored = z.object({ path: z.string(), bytes: z.number() });

export const PACK_ERRORS = [
  'More than <n> files: take a smaller folder',
  'More than <n> MB: take a smaller folder',
] as const;

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
