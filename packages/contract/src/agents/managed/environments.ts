import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { managed, metadata, metadataChange, metadataTold, NOT_YOURS, PAGE_TEXTS, pageOf, timesTold } from './fields.ts';

const CONFIG = 'config: an agent runs in the sandbox that the platform gives it; packages and networking cannot be set';

/** Only what is the case here anyway: anything narrower would be promised and not kept. */
const config = z.union(
  [
    z.null(),
    z.object({
      type: z.literal('cloud'),
      networking: z.strictObject({ type: z.literal('unrestricted') }).nullish(),
      packages: z.record(z.string(), z.union([z.literal('packages'), z.array(z.string()).max(0), z.null()])).nullish(),
    }),
  ],
  CONFIG,
);
const environment = z.object({
  type: z.literal('environment'),
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  config: z.looseObject({ type: z.literal('cloud') }),
  metadata: metadataTold,
  ...timesTold,
});
const errors = { 400: [NOT_YOURS], 404: ['Environment not found'] };
const name = z.string().trim().min(1, 'name required').max(200);
const description = z.string().max(2000).nullish();

export const createEnvironment = endpoint({
  ...managed.make,
  path: '/v1/environments',
  summary: 'A name that sessions are put under; every agent has a sandbox of its own',
  body: z.object({ name, description, config: config.optional(), metadata: metadata.nullish() }),
  reply: environment,
  errors: { 400: [NOT_YOURS], 404: ['User not found'], 429: ['At most 100 environments'] },
});

export const getEnvironment = endpoint({
  ...managed.read,
  path: '/v1/environments/:id',
  summary: 'An environment',
  reply: environment,
  errors,
});

export const updateEnvironment = endpoint({
  ...managed.change,
  path: '/v1/environments/:id',
  summary: 'Change an environment',
  body: z.object({
    name: name.optional(),
    description,
    config: config.optional(),
    metadata: metadataChange.nullish(),
  }),
  reply: environment,
  errors,
});

export const listEnvironments = endpoint({
  ...managed.list,
  path: '/v1/environments',
  summary: 'Environments, the newest first',
  reply: pageOf(environment),
  errors: { 400: PAGE_TEXTS },
});

export const archiveEnvironment = endpoint({
  ...managed.change,
  path: '/v1/environments/:id/archive',
  summary: 'Take no new sessions under an environment',
  reply: environment,
  errors,
});

export const deleteEnvironment = endpoint({
  ...managed.remove,
  path: '/v1/environments/:id',
  summary: 'Delete an environment; its sessions stay',
  reply: z.object({ id: z.string(), type: z.literal('environment_deleted') }),
  errors,
});
