import { z } from 'zod';
import { nullableTimestamp, timestamp } from '../../common.ts';

/** What is said about skills: folders in the AgentSkills format. */

export const SKILL_NOT_FOUND = 'Skill not found';
export const REVIEW_NOT_FOUND = 'Review not found';
export const SKILL_FILE_NOT_FOUND = 'There is no such file in it';
export const SKILL_CHANGED_TEXT = 'The skill has changed since: look at it again';
export const UNKNOWN_SKILL_TEXT = 'There is no skill <name> in your library';

/** Why something that was sent is no skill. */
export const BAD_SKILL_TEXTS = [
  'SKILL.md cannot be used: <reason>',
  'SKILL.md is not UTF-8 text',
  'There is no SKILL.md in it',
  'There is no SKILL.md in <path>',
  'There are several skills in it: <names>. Name one with path',
  'This is neither a zip, a tar nor a SKILL.md',
  'The archive is damaged',
  'The archive is locked by a password',
  'The archive is a zip64: pack it smaller',
  'The archive is packed in a way that is not read here',
  'The archive has names that are not UTF-8',
  'The archive has more than <n> entries',
  'The archive holds more than <n> MB',
  'A skill has <n> files at most',
  '<path> is too large',
  '<path> is too long or too deep',
  '<path> is no path within a skill',
  '<path> is a link or a device: a skill has plain files only',
  '<path> is a file and a folder',
  '<path> stands twice in it',
  'It takes too long to read. Make it simpler',
];

const level = z.enum(['danger', 'warning', 'note']);
const finding = z.object({
  level,
  code: z.string(),
  text: z.string(),
  path: z.string(),
  line: z.number().optional(),
  excerpt: z.string().optional(),
});
export type SkillFinding = z.output<typeof finding>;

const skillReport = z.object({
  scripts: z.array(z.object({ path: z.string(), interpreter: z.string(), lines: z.number() })),
  hosts: z.array(z.string()).describe('Hosts that its files name'),
  findings: z.array(finding).describe('Where to look before it is taken, the worst first'),
  leftOut: z.array(z.string()).describe('Files that were not taken: what systems leave in folders'),
});

const head = {
  name: z.string(),
  description: z.string(),
  digest: z.string().describe('SHA-256 over all files; what agents are pinned to'),
  bytes: z.number(),
  source: z.string().describe('files, archive, built-in, or the address that it was fetched from'),
};

const kind = z.enum(['text', 'script', 'picture', 'font', 'document', 'program', 'binary']);
const file = z.object({ path: z.string(), bytes: z.number(), sha256: z.string(), kind });
const change = z.enum(['added', 'changed', 'removed', 'same']);

const shownHead = z.object({
  ...head,
  license: z.string().optional(),
  compatibility: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  allowedTools: z.array(z.string()).describe('What its author wishes; it gives no agent anything'),
});

export const reviewSummary = z.object({
  id: z.string(),
  ...head,
  replaces: z.string().nullable().describe('The digest of the version in the library, where there is one'),
  dangers: z.number(),
  warnings: z.number(),
  createdAt: timestamp,
});

export const reviewed = shownHead.extend({
  id: z.string(),
  skillId: z.string().nullable().describe('The skill of this name that is in the library'),
  replaces: z.string().nullable(),
  report: skillReport,
  files: z.array(file.extend({ change })),
  createdAt: timestamp,
});
export type SkillReview = z.output<typeof reviewed>;

export const skillSummary = z.object({
  id: z.string(),
  ...head,
  version: z.number(),
  files: z.number(),
  scripts: z.number(),
  agents: z.array(
    z.object({ id: z.string(), name: z.string(), behind: z.boolean().describe('It has an older version') }),
  ),
  acceptedAt: nullableTimestamp,
});
export type SkillSummary = z.output<typeof skillSummary>;

export const skill = shownHead.extend({
  id: z.string(),
  version: z.number(),
  report: skillReport,
  files: z.array(file),
  acceptedAt: nullableTimestamp,
});

export const skillText = z.object({
  path: z.string(),
  bytes: z.number(),
  text: z.string().nullable().describe('Null: it is no text'),
});

export const agentSkill = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  on: z.boolean(),
  digest: z.string().describe('Of the newest version'),
  version: z.number().nullable().describe('Null: it is not in the library any more'),
  pinned: z.string().nullable().describe('The digest that the agent has'),
  behind: z.boolean(),
});

export const skillPath = z
  .string({ error: 'path required' })
  .min(1, 'path required')
  .max(200, 'path too long (max 200)');
export const skillDigestField = z.string().regex(/^[0-9a-f]{64}$/, 'digest must be the SHA-256 that was shown');

export const skillChange = z
  .object({ id: z.string().max(100), on: z.boolean(), digest: skillDigestField.optional() })
  .describe('A skill of its owner’s library, given or taken away');
