import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { tooLong } from '../../fields.ts';
import { deploying, deployment } from '../deploying.ts';
import {
  AGENT_LIMIT_TEXT,
  denied,
  PROVISIONING_DISABLED_TEXT,
  TAKEN_TEXTS,
  templates,
  TOO_MANY_SKILLS_TEXT,
} from '../fields.ts';
import { UNKNOWN_SKILL_TEXT } from '../skills/fields.ts';

export const BAD_TEAM_TEXTS = ['Not valid YAML: <reason>', 'Invalid team: <reason>'];

export const deployTeam = endpoint({
  ...deploying,
  method: 'POST',
  path: '/api/deployments/team',
  summary: 'Run a team from its document; each agent ends running or failed on its own',
  body: z.object({
    teamId: z.string({ error: 'teamId is required' }).regex(/^[A-Za-z0-9_-]{1,64}$/, 'Invalid teamId'),
    yaml: z.string({ error: 'yaml is required' }).min(1, 'yaml is required').max(500_000, tooLong('yaml', 500_000)),
    template: z.string().max(100).optional(),
    agents: z
      .array(deployment)
      .max(50)
      .optional()
      .describe('The ids and plans of agents of the document, by `config.name`; the others go by the owner’s plan'),
  }),
  reply: z.object({
    teamId: z.string(),
    agents: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        status: z.enum(['running', 'failed']),
        url: z.string(),
        error: z.string().optional(),
      }),
    ),
  }),
  errors: {
    400: [
      'teamId is required',
      'yaml is required',
      'Invalid plan',
      ...BAD_TEAM_TEXTS,
      UNKNOWN_SKILL_TEXT,
      TOO_MANY_SKILLS_TEXT,
    ],
    ...denied,
    402: ['A paid plan is required. Choose a plan at /pricing', AGENT_LIMIT_TEXT],
    404: ['User not found'],
    409: ['A team with this id exists already', ...TAKEN_TEXTS],
    429: ['Deployment rate limit exceeded.', 'Too many teams (max 500)'],
    503: [PROVISIONING_DISABLED_TEXT],
  },
});

export const listTeamTemplates = endpoint({
  ...deploying,
  tag: 'Teams',
  method: 'GET',
  path: '/api/provision/team/templates',
  summary: 'The twelve ready-made teams',
  reply: templates,
  errors: denied,
});
