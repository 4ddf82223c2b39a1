import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { tooLong } from '../../fields.ts';
import { deploying, deployment } from '../deploying.ts';
import {
  AGENT_LIMIT_TEXT,
  AGENT_NOT_FOUND,
  denied,
  PROVISIONING_DISABLED_TEXT,
  TAKEN_TEXTS,
  templates,
  TOO_MANY_SKILLS_TEXT,
} from '../fields.ts';
import { UNKNOWN_SKILL_TEXT } from '../skills/fields.ts';

export const BAD_TEAM_TEXTS = ['Not valid YAML: <reason>', 'Invalid team: <reason>'];

export const deploy = endpoint({
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

export const listTemplates = endpoint({
  ...deploying,
  tag: 'Teams',
  method: 'GET',
  path: '/api/provision/team/templates',
  summary: 'The twelve ready-made teams',
  reply: templates,
  errors: denied,
});

const bounds = z.object({ maxEntries: z.number().int().positive(), ttlDays: z.number().positive() });
const content = z.string().min(1).max(100_000);
const op = <N extends string>(name: N) => z.literal(name);

/** What the members of a team do with what they share. */
const teamStoreCall = z.discriminatedUnion('op', [
  z.object({ op: op('remember'), key: z.string().max(1000).optional(), content, bounds }),
  z.object({
    op: op('recall'),
    query: z.string().max(100_000).optional(),
    limit: z.number().int().min(1).max(1000),
    offset: z.number().int().min(0).max(1_000_000).optional(),
  }),
  z.object({ op: op('editMemory'), id: z.string(), content, bounds }),
  z.object({ op: op('forget'), id: z.string() }),
  z.object({ op: op('todos') }),
  z.object({ op: op('addTodos'), descriptions: z.array(z.string().min(1).max(1000)).min(1).max(50) }),
  z.object({ op: op('setTodo'), id: z.string(), status: z.enum(['pending', 'in-progress', 'completed']) }),
]);
export type TeamStoreCall = z.output<typeof teamStoreCall>;

/** `x-agent-id` names the member; an agent's own key means that agent. */
export const askStore = endpoint({
  service: 'backend',
  tag: 'Runtime',
  auth: 'internalOrKey',
  method: 'POST',
  path: '/v1/team-store',
  summary: 'Memory and to-do list of a team, for members that run as programs of their own',
  body: teamStoreCall,
  reply: z.object({ result: z.unknown() }),
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] },
});
