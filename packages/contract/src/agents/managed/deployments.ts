import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import {
  agentRef,
  agentTold,
  budget,
  environmentId,
  listQuery,
  managed,
  metadata,
  metadataChange,
  metadataTold,
  none,
  NOT_YOURS,
  pageOf,
  PAGE_TEXTS,
  pageQuery,
  timesTold,
} from './fields.ts';

/** A scheduled task that begins a session each time; it is in the dashboard’s tasks, too, and its runs are its receipts. */

const EVENTS = 'initial_events must be one user.message of text';
const RESOURCES = 'resources: put files into the agent’s workspace, or into a session once it runs';
const VAULTS = 'vault_ids: sessions of an agent share its keys; open its servers with a session of your own';
const SCHEDULE = 'schedule must be of type cron, with expression and timezone';

const name = z.string().trim().min(1, 'name required').max(200);
const text = z.array(z.strictObject({ type: z.literal('text', EVENTS), text: z.string().max(100_000) }), EVENTS);
const events = z
  .array(
    z.strictObject({ type: z.literal('user.message', EVENTS), content: text.min(1, EVENTS).max(100, EVENTS) }),
    EVENTS,
  )
  .length(1, EVENTS);
const schedule = z.object(
  {
    type: z.literal('cron', SCHEDULE),
    expression: z.string(SCHEDULE).max(200, SCHEDULE),
    timezone: z.string(SCHEDULE).max(64, SCHEDULE),
  },
  SCHEDULE,
);
const fields = {
  description: z.string().max(2000).nullish(),
  schedule: schedule.nullish(),
  resources: none(RESOURCES),
  vault_ids: none(VAULTS),
  budget,
};

const deployment = z.object({
  type: z.literal('deployment'),
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  agent: agentTold,
  environment_id: z.string(),
  initial_events: z.array(
    z.object({
      type: z.literal('user.message'),
      content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
    }),
  ),
  schedule: z
    .object({
      type: z.literal('cron'),
      expression: z.string(),
      timezone: z.string(),
      last_run_at: z.string().nullable(),
      upcoming_runs_at: z.array(z.string()),
    })
    .nullable(),
  status: z.enum(['active', 'paused']),
  paused_reason: z.object({ type: z.literal('manual') }).nullable(),
  resources: z.array(z.looseObject({})),
  vault_ids: z.array(z.string()),
  budget: z.null(),
  metadata: metadataTold,
  ...timesTold,
});

export const RUN_ERRORS = [
  'agent_archived_error',
  'environment_archived_error',
  'environment_not_found_error',
  'session_creation_rejected_error',
  'session_rate_limited_error',
  'unknown_error',
] as const;

const run = z.object({
  type: z.literal('deployment_run'),
  id: z.string(),
  deployment_id: z.string(),
  agent: agentTold,
  session_id: z.string().nullable(),
  error: z.object({ type: z.enum(RUN_ERRORS), message: z.string() }).nullable(),
  trigger_context: z.discriminatedUnion('type', [
    z.object({ type: z.literal('manual') }),
    z.object({ type: z.literal('schedule'), scheduled_at: z.string() }),
  ]),
  created_at: z.string(),
});

const none404 = 'Deployment not found';
const ARCHIVED = 'The deployment is archived';
const TIMES = ['Invalid cron schedule', 'Invalid timezone'];
const MADE_OF = [AGENT_NOT_FOUND, 'Environment not found'];
const errors = { 400: [NOT_YOURS], 404: [none404, AGENT_NOT_FOUND] };
const change = { 400: [NOT_YOURS, ARCHIVED], 404: [none404, AGENT_NOT_FOUND] };

export const createDeployment = endpoint({
  ...managed.make,
  path: '/v1/deployments',
  summary:
    'Begin a session with an agent at the times of a schedule, or whenever it is run; it counts as a scheduled task',
  body: z.object({
    ...fields,
    name,
    agent: agentRef,
    environment_id: environmentId,
    initial_events: events,
    metadata: metadata.nullish(),
  }),
  reply: deployment,
  errors: {
    400: [NOT_YOURS, EVENTS, ...TIMES, 'The agent is archived', 'The environment is archived'],
    404: MADE_OF,
    429: ['Scheduled task limit reached (<n> on your plan). Delete one first.'],
  },
});

export const getDeployment = endpoint({
  ...managed.read,
  path: '/v1/deployments/:id',
  summary: 'A deployment',
  reply: deployment,
  errors,
});

export const updateDeployment = endpoint({
  ...managed.change,
  path: '/v1/deployments/:id',
  summary: 'Change a deployment; `schedule: null` leaves it to be run by hand',
  body: z.object({
    ...fields,
    name: name.optional(),
    agent: agentRef.optional(),
    environment_id: environmentId.optional(),
    initial_events: events.optional(),
    metadata: metadataChange.nullish(),
  }),
  reply: deployment,
  errors: {
    400: [NOT_YOURS, ARCHIVED, EVENTS, ...TIMES, 'The agent is archived', 'The environment is archived'],
    404: [none404, ...MADE_OF],
  },
});

export const listDeployments = endpoint({
  ...managed.list,
  path: '/v1/deployments',
  summary: 'Deployments, the newest first',
  query: listQuery.extend({
    agent_id: z.string().max(200).optional(),
    status: z.enum(['active', 'paused']).optional(),
  }),
  reply: pageOf(deployment),
  errors: { 400: PAGE_TEXTS, 404: [AGENT_NOT_FOUND] },
});

export const archiveDeployment = endpoint({
  ...managed.change,
  path: '/v1/deployments/:id/archive',
  summary: 'End a deployment; its runs and sessions stay',
  reply: deployment,
  errors,
});

export const pauseDeployment = endpoint({
  ...managed.change,
  path: '/v1/deployments/:id/pause',
  summary: 'Leave out what is scheduled until it is unpaused; it can still be run by hand',
  reply: deployment,
  errors: change,
});

export const unpauseDeployment = endpoint({
  ...managed.change,
  path: '/v1/deployments/:id/unpause',
  summary: 'Go on with what is scheduled; what was left out is not caught up on',
  reply: deployment,
  errors: change,
});

export const runDeployment = endpoint({
  ...managed.change,
  path: '/v1/deployments/:id/run',
  summary: 'Begin a session now; the run says which, or why there is none',
  reply: run,
  errors: { ...change, 429: ['Too many runs within an hour'] },
});

export const getDeploymentRun = endpoint({
  ...managed.read,
  path: '/v1/deployment_runs/:id',
  summary: 'A run of a deployment',
  reply: run,
  errors: { 400: [NOT_YOURS], 404: ['Run not found', AGENT_NOT_FOUND] },
});

export const listDeploymentRuns = endpoint({
  ...managed.list,
  path: '/v1/deployment_runs',
  summary: 'Runs of deployments, the newest first; of each deployment the last five hundred',
  query: pageQuery.extend({
    deployment_id: z.string().max(200).optional(),
    has_error: z.enum(['true', 'false']).optional(),
    trigger_type: z.enum(['manual', 'schedule']).optional(),
  }),
  reply: pageOf(run),
  errors: { 400: PAGE_TEXTS, 404: [none404, AGENT_NOT_FOUND] },
});
