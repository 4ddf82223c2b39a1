import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { BAD_SKILL_TEXTS, SKILL_NOT_FOUND } from '../skills/fields.ts';
import { anyQuery, managed, NOT_YOURS, PAGE_TEXTS, pageOf, pageQuery } from './fields.ts';

/** Skills of the caller's library, as clients of Anthropic's API know them. A version goes by its digest. */

const skill = z.object({
  type: z.literal('skill'),
  id: z.string(),
  display_name: z.string(),
  latest_version_id: z.string(),
  source: z.object({ type: z.literal('custom') }),
  created_at: z.string(),
  updated_at: z.string(),
});
const version = z.object({
  type: z.literal('skill_version'),
  id: z.string(),
  skill_id: z.string(),
  name: z.string(),
  description: z.string(),
  created_at: z.string(),
});

const NO_VERSION = 'Skill version not found';
const LOOK = 'It waits for your review in the dashboard, since something in it should be looked at first: <finding>';
const errors = { 400: [NOT_YOURS], 404: [SKILL_NOT_FOUND] };
const taking = {
  400: [
    NOT_YOURS,
    'Content-Type must be multipart/form-data',
    'The form is not valid',
    'A form may have <n> parts',
    'A field of a form may have <n> bytes',
    'files required',
    'display_name may have 255 characters in one line',
    '<field>: not known here',
    ...BAD_SKILL_TEXTS,
  ],
  404: ['User not found'],
  409: [
    LOOK,
    'There is a skill <name> already: make a version of it',
    'Too many skills wait for a review (max <n>). Accept or drop one first',
    'Your skills take more than <n> MB. Delete one first',
    'Too many skills in your library (max <n>). Delete one first',
  ],
} as const;
const form = { rawBody: 'form', bodyLimit: 12 * 1024 * 1024 } as const;

export const createSkill = endpoint({
  ...managed.make,
  ...form,
  path: '/v1/skills',
  summary:
    'Put a skill into the library: a form with `files[]`, which lie in one folder with a SKILL.md, or one archive',
  query: anyQuery,
  reply: skill,
  errors: taking,
});

export const listSkills = endpoint({
  ...managed.list,
  path: '/v1/skills',
  summary: 'Skills of the library, by name',
  query: pageQuery.extend({ source: z.enum(['custom', 'anthropic'], 'source must be custom or anthropic').optional() }),
  reply: pageOf(skill),
  errors: { 400: PAGE_TEXTS },
});

/** A digest in place of the id is what agents of an older release ask for: the files of a skill that they were given. */
export const getSkill = endpoint({
  ...managed.read,
  path: '/v1/skills/:id',
  summary: 'A skill of the library',
  reply: z.union([skill, z.object({ files: z.array(z.object({ path: z.string(), content: z.string() })) })]),
  errors: { ...errors, 404: [SKILL_NOT_FOUND, AGENT_NOT_FOUND] },
});

export const deleteSkill = endpoint({
  ...managed.remove,
  path: '/v1/skills/:id',
  summary: 'Delete a skill that no agent has, with all its versions',
  reply: z.object({ id: z.string(), type: z.literal('skill_deleted') }),
  errors: { ...errors, 409: ['Agents have this skill: <names>. Switch it off there first'] },
});

const one = {
  path: '/v1/skills/:id/versions/:version',
  params: z.object({ id: z.string().min(1).max(200), version: z.string().min(1).max(200) }),
} as const;
const ofVersion = { ...errors, 404: [SKILL_NOT_FOUND, NO_VERSION] };

export const createSkillVersion = endpoint({
  ...managed.change,
  ...form,
  path: '/v1/skills/:id/versions',
  summary: 'A newer version of a skill, of the same name; agents keep the one that they have',
  reply: version,
  errors: {
    ...taking,
    400: [...taking[400], 'The skill is called <name>, and so must its versions be'],
    404: [SKILL_NOT_FOUND],
  },
});

export const listSkillVersions = endpoint({
  ...managed.listWithin,
  path: '/v1/skills/:id/versions',
  summary: 'Versions of a skill, the newest first; the last five are kept, and those that agents have',
  reply: pageOf(version),
  errors: { 400: PAGE_TEXTS, 404: [SKILL_NOT_FOUND] },
});

export const getSkillVersion = endpoint({
  ...managed.read,
  ...one,
  summary: 'A version of a skill; `latest` is the newest',
  reply: version,
  errors: ofVersion,
});

export const deleteSkillVersion = endpoint({
  ...managed.remove,
  ...one,
  summary: 'Delete a version of a skill that no agent has; the last one goes with its skill',
  reply: z.object({ id: z.string(), type: z.literal('skill_version_deleted') }),
  errors: {
    ...ofVersion,
    409: ['Agents have this skill: <names>. Switch it off there first', 'It is the only version: delete the skill'],
  },
});

export const downloadSkillVersion = endpoint({
  ...managed.read,
  ...one,
  path: `${one.path}/content`,
  summary: 'A version of a skill as a zip',
  produces: 'application/octet-stream',
  errors: { ...ofVersion, 429: ['At most <n> requests of more than 1 MB at a time'] },
});
