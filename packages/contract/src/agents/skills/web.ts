import { z } from 'zod';
import { idParams, success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import * as backend from '../agents/backend.ts';
import * as ai from '../ai/backend.ts';
import { MODEL_ERRORS } from '../ai/v1/fields.ts';
import * as gateway from '../conversations/gateway.ts';
import { AGENT_NOT_FOUND, forceQuery, TOO_MANY_SKILLS_TEXT } from '../fields.ts';
import {
  agentSkill,
  BAD_SKILL_TEXTS,
  reviewed,
  REVIEW_NOT_FOUND,
  reviewSummary,
  skill,
  SKILL_CHANGED_TEXT,
  SKILL_FILE_NOT_FOUND,
  SKILL_NOT_FOUND,
  skillDigestField,
  skillPath,
  skillSummary,
  skillText,
} from './fields.ts';

const base = { service: 'web', tag: 'Skills', auth: 'session', errors: { 401: ['Unauthorized'] } } as const;

/** In the library of one user, and waiting for a review. */
export const MOST_SKILLS = 200;
export const MOST_REVIEWS = 10;
const FULL = {
  409: [
    'Too many skills wait for a review (max <n>). Accept or drop one first',
    'Your skills take more than <n> MB. Delete one first',
  ],
} as const;

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/skills',
  summary: 'The library of skills, what waits for a review, and what comes with the platform',
  reply: z.object({
    skills: z.array(skillSummary),
    reviews: z.array(reviewSummary),
    builtIn: z.array(z.object({ name: z.string(), description: z.string() })).describe('Not in the library yet'),
  }),
});

const CONTENT = 'Each file needs a content';
const file = z.object({
  path: z.string({ error: 'Each file needs a path' }).min(1, 'Each file needs a path').max(1000),
  content: z.string({ error: CONTENT }).max(3 * 1024 * 1024, 'A file is too large'),
  encoding: z.enum(['utf8', 'base64']).default('utf8'),
});

const inside = z.string().max(500).optional().describe('The folder in the archive, where it has several skills');

export const review = endpoint({
  ...base,
  method: 'POST',
  path: '/api/skills/reviews',
  summary:
    'Look through a skill before it is taken: its files, an address to fetch it from, or the name of a built-in one',
  body: z
    .object({
      files: z.array(file).min(1, 'files must not be empty').max(10_000, 'Too many files').optional(),
      url: z.string().max(2000, 'url too long (max 2000)').optional(),
      path: inside,
      builtIn: z
        .string()
        .regex(/^[a-z0-9-]{1,64}$/, 'builtIn must be the name of a built-in skill')
        .optional(),
    })
    .refine(
      ({ files, url, builtIn }) => [files, url, builtIn].filter((one) => one !== undefined).length === 1,
      'Give one of files, url and builtIn',
    ),
  reply: reviewed,
  status: 201,
  bodyLimit: 12 * 1024 * 1024,
  errors: {
    ...base.errors,
    400: [...BAD_SKILL_TEXTS, 'There is no built-in skill <name>', 'The address cannot be fetched: <reason>'],
    ...FULL,
  },
});

export const reviewArchive = endpoint({
  ...base,
  method: 'POST',
  path: '/api/skills/reviews/archive',
  summary: 'The same for a zip, tar or tar.gz; its bytes are the body, as application/octet-stream',
  query: z.object({ path: inside }),
  reply: reviewed,
  status: 201,
  rawBody: 'bytes',
  bodyLimit: 10 * 1024 * 1024,
  errors: {
    ...base.errors,
    400: [...BAD_SKILL_TEXTS, 'Content-Type must be application/octet-stream'],
    ...FULL,
  },
});

const ofReview = { ...base, params: idParams, errors: { ...base.errors, 404: [REVIEW_NOT_FOUND] } } as const;

export const getReview = endpoint({
  ...ofReview,
  method: 'GET',
  path: '/api/skills/reviews/:id',
  summary: 'What waits for a review, and what it would change',
  reply: reviewed,
});

export const getReviewFile = endpoint({
  ...ofReview,
  method: 'GET',
  path: '/api/skills/reviews/:id/file',
  summary: 'A file of it; with `side=old` as the library has it',
  query: z.object({ path: skillPath, side: z.enum(['new', 'old']).default('new') }),
  reply: skillText,
  errors: { ...base.errors, 404: [REVIEW_NOT_FOUND, SKILL_FILE_NOT_FOUND] },
});

export const accept = endpoint({
  ...ofReview,
  method: 'POST',
  path: '/api/skills/reviews/:id/accept',
  summary: 'Take it into the library. No agent has it by that; those with an older version keep that one',
  body: z.object({ digest: skillDigestField }),
  reply: skillSummary,
  errors: {
    ...ofReview.errors,
    409: [SKILL_CHANGED_TEXT, 'Too many skills in your library (max <n>). Delete one first'],
  },
});

export const dropReview = endpoint({
  ...ofReview,
  method: 'DELETE',
  path: '/api/skills/reviews/:id',
  summary: 'Do not take it',
  reply: success,
});

const ofSkill = { ...base, params: idParams, errors: { ...base.errors, 404: [SKILL_NOT_FOUND] } } as const;

export const get = endpoint({
  ...ofSkill,
  method: 'GET',
  path: '/api/skills/:id',
  summary: 'A skill of the library: its newest version',
  reply: skill,
});

export const getFile = endpoint({
  ...ofSkill,
  method: 'GET',
  path: '/api/skills/:id/file',
  summary: 'A file of its newest version',
  query: z.object({ path: skillPath }),
  reply: skillText,
  errors: { ...base.errors, 404: [SKILL_NOT_FOUND, SKILL_FILE_NOT_FOUND] },
});

export const remove = endpoint({
  ...ofSkill,
  method: 'DELETE',
  path: '/api/skills/:id',
  summary: 'Delete a skill that no agent has, with all its versions',
  reply: success,
  errors: { ...ofSkill.errors, 409: ['Agents have this skill: <names>. Switch it off there first'] },
});

const away = { 502: ['Agent backend unavailable'] } as const;
const ofAgent = {
  ...base,
  tag: 'Skills',
  params: z.object({ id: z.string(), skillId: z.string() }),
  query: forceQuery,
  reply: z.object({ skills: z.array(agentSkill), max: z.number() }),
  passesOn: () => [backend.update],
  errors: { ...base.errors, ...away, 404: [AGENT_NOT_FOUND, SKILL_NOT_FOUND] },
} as const;

export const listOfAgent = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/skills',
  summary: 'Which skills of the library an agent has',
  params: idParams,
  reply: z.object({ skills: z.array(agentSkill), max: z.number().describe('How many its plan allows') }),
  errors: { ...base.errors, 404: [AGENT_NOT_FOUND] },
});

export const give = endpoint({
  ...ofAgent,
  method: 'PUT',
  path: '/api/agents/:id/skills/:skillId',
  summary: 'Give an agent the newest version of a skill; it counts from the next step on',
  body: z.object({ digest: skillDigestField.optional().describe('The version that was seen: another is refused') }),
  errors: { ...ofAgent.errors, 400: [TOO_MANY_SKILLS_TEXT], 409: [SKILL_CHANGED_TEXT] },
});

export const take = endpoint({
  ...ofAgent,
  method: 'DELETE',
  path: '/api/agents/:id/skills/:skillId',
  summary: 'Take a skill from an agent',
});

const NO_DRAFT = 'The model’s answer is no skill that can be used. Try again, or have it written by rules.';

export const draft = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/skill',
  summary:
    'A finished run written down as a SKILL.md, to be edited. Nothing is kept: send it for a review when it is good',
  params: z.object({ id: z.string(), sessionId: z.string() }),
  body: z.object({
    run: z.int().min(1).max(2_147_483_647).describe('The step that the run began with'),
    by: z.enum(['model', 'rules']).optional().describe('Rules where no model is set up; a model unless said'),
  }),
  reply: z.object({ name: z.string(), content: z.string(), by: z.enum(['model', 'rules']), isSandbox: z.boolean() }),
  passesOn: () => [gateway.get, ai.listModels],
  errors: {
    ...base.errors,
    ...MODEL_ERRORS,
    404: [AGENT_NOT_FOUND, 'Session not found', 'Run not found'],
    409: ['The run is still going on', 'The run has too many steps to be written down'],
    502: [NO_DRAFT, ...away[502], ...MODEL_ERRORS[502]],
  },
});
