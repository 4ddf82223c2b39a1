import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { MOST_BODY } from '../ai/v1/fields.ts';
import { MESSAGE_TOO_LARGE, NOT_PASSED_TEXTS } from '../fields.ts';
import { MOST_ATTACHMENTS } from '../files/fields.ts';
import {
  agentRef,
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
  REACH_ERRORS,
  timesTold,
} from './fields.ts';
import { firstResource, MOST_RESOURCES, MOST_STORES, PUT_ERRORS } from './resources.ts';

const RESOURCES = `resources may be ${MOST_RESOURCES} at once`;
const STORES = `resources may have ${MOST_STORES} memory stores`;
const VAULTS = 'vault_ids must be ids of vaults, ten at most';
const LATER = 'vault_ids cannot be changed: begin another session';
const TEXT = 'content must be blocks of type text';
const BLOCK = 'content must be blocks of type text, image or document';
const SOURCE = 'source must be of type base64, text or file: an address is not fetched';
const MOST_BLOCKS = `content may have ${MOST_ATTACHMENTS} pictures and documents`;
const EVENT =
  'an event must be of type user.message, user.interrupt, user.tool_confirmation or user.custom_tool_result';

const text = z.array(z.object({ type: z.literal('text', TEXT), text: z.string().max(100_000) })).max(100);
const base64 = z.object({ type: z.literal('base64'), media_type: z.string().max(200), data: z.string().min(1) });
const kept = z.object({ type: z.literal('file'), file_id: z.string().min(1).max(200) });
const words = z.object({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string().min(1) });
const block = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string().max(100_000) }),
    z.object({ type: z.literal('image'), source: z.discriminatedUnion('type', [base64, kept], SOURCE) }),
    z.object({
      type: z.literal('document'),
      source: z.discriminatedUnion('type', [base64, kept, words], SOURCE),
      title: z.string().max(200).nullish(),
      context: z.null('context: say it in a block of type text').optional(),
    }),
  ],
  BLOCK,
);
const blocks = z
  .array(block)
  .min(1)
  .max(100)
  .refine((given) => given.filter(({ type }) => type !== 'text').length <= MOST_ATTACHMENTS, MOST_BLOCKS);
const message = z.object({ type: z.literal('user.message'), content: blocks });
const event = z.discriminatedUnion(
  'type',
  [
    message,
    z.object({ type: z.literal('user.interrupt') }),
    z.object({
      type: z.literal('user.tool_confirmation'),
      tool_use_id: z.string().min(1).max(200),
      result: z.enum(['allow', 'deny']),
      deny_message: z.string().max(2000).nullish(),
    }),
    z.object({
      type: z.literal('user.custom_tool_result'),
      custom_tool_use_id: z.string().min(1).max(200),
      content: text.nullish(),
      is_error: z.boolean().nullish(),
    }),
  ],
  EVENT,
);
const session = z.looseObject({
  type: z.literal('session'),
  id: z.string(),
  agent: z.looseObject({ type: z.literal('agent'), id: z.string(), version: z.number() }),
  environment_id: z.string(),
  status: z.enum(['running', 'idle', 'rescheduling', 'terminated']),
  title: z.string().nullable(),
  metadata: metadataTold,
  ...timesTold,
});
const sent = z.looseObject({ id: z.string(), type: z.string() });
const notThere = [...REACH_ERRORS[404], 'Session not found'];
const errors = { 400: [NOT_YOURS], 404: notThere };
const ARCHIVED = 'The session is archived';
const EMPTY = 'A picture or document is empty';

export const createSession = endpoint({
  ...managed.make,
  path: '/v1/sessions',
  summary: 'A conversation with an agent; what is said in it is in the agent’s own log',
  body: z.object({
    agent: agentRef,
    environment_id: environmentId,
    title: z.string().max(200).nullish(),
    metadata: metadata.nullish(),
    initial_events: z.array(message).max(1).nullish(),
    resources: z
      .array(firstResource)
      .max(MOST_RESOURCES, RESOURCES)
      .refine((given) => given.filter(({ type }) => type === 'memory_store').length <= MOST_STORES, STORES)
      .nullish(),
    vault_ids: z.array(z.string(VAULTS).min(1, VAULTS).max(200, VAULTS), VAULTS).max(10, VAULTS).nullish(),
    budget,
  }),
  reply: session,
  bodyLimit: MOST_BODY,
  errors: {
    ...PUT_ERRORS,
    400: [
      NOT_YOURS,
      EMPTY,
      'The agent is archived',
      'The environment is archived',
      'The vault is archived',
      'The memory store is archived',
      'resources must name a memory store once',
      'The server <name> has headers of its own: take them away to open it with a vault',
      'The agent’s servers are open with other vaults: its sessions share them, so give each its own agent',
      ...PUT_ERRORS[400],
    ],
    404: [...PUT_ERRORS[404], 'Environment not found', 'Vault not found', 'Memory store not found'],
    409: [...PUT_ERRORS[409], ...NOT_PASSED_TEXTS],
    413: [...PUT_ERRORS[413], MESSAGE_TOO_LARGE],
    429: [...PUT_ERRORS[429], 'At most 10,000 sessions'],
  },
});

export const getSession = endpoint({
  ...managed.read,
  path: '/v1/sessions/:id',
  summary: 'A session',
  reply: session,
  errors,
});

export const updateSession = endpoint({
  ...managed.change,
  path: '/v1/sessions/:id',
  summary: 'Change a session’s title and metadata',
  body: z.object({
    title: z.string().max(200).nullish(),
    metadata: metadataChange.nullish(),
    vault_ids: none(LATER),
    budget,
  }),
  reply: session,
  errors,
});

export const listSessions = endpoint({
  ...managed.list,
  path: '/v1/sessions',
  summary: 'Sessions, the newest first',
  query: listQuery.extend({
    agent_id: z.string().max(200).optional(),
    deployment_id: z.string().max(200).optional(),
  }),
  reply: pageOf(session).extend({ prev_page: z.null() }),
  errors: { 400: PAGE_TEXTS, 404: REACH_ERRORS[404] },
});

export const archiveSession = endpoint({
  ...managed.change,
  path: '/v1/sessions/:id/archive',
  summary: 'Take nothing more in a session; it can still be read',
  reply: session,
  errors,
});

export const deleteSession = endpoint({
  ...managed.remove,
  path: '/v1/sessions/:id',
  summary: 'Delete a session and what was said in it; a run of it is stopped',
  reply: z.object({ id: z.string(), type: z.literal('session_deleted') }),
  errors: { ...REACH_ERRORS, ...errors },
});

export const sendEvents = endpoint({
  ...managed.change,
  path: '/v1/sessions/:id/events',
  summary: 'Say something in a session, interrupt it, decide about a tool, or give the result of one',
  body: z.object({ events: z.array(event).min(1, 'events must have at least one').max(100) }),
  reply: z.object({ data: z.array(sent) }),
  bodyLimit: MOST_BODY,
  errors: {
    ...PUT_ERRORS,
    400: [
      NOT_YOURS,
      ARCHIVED,
      EMPTY,
      'No run of this agent waits for the result of <call>',
      'No approval waits for <id>',
      ...PUT_ERRORS[400],
    ],
    404: [...notThere, ...PUT_ERRORS[404]],
    409: ['Approval is already decided', ...PUT_ERRORS[409]],
    413: [...PUT_ERRORS[413], MESSAGE_TOO_LARGE],
  },
});

export const listEvents = endpoint({
  ...managed.listWithin,
  path: '/v1/sessions/:id/events',
  summary: 'What happened in a session, the oldest first',
  query: pageQuery.extend({ order: z.literal('asc', 'order must be asc').optional() }),
  reply: pageOf(sent),
  errors: { ...REACH_ERRORS, 400: PAGE_TEXTS, 404: notThere },
});

export const streamEvents = endpoint({
  ...managed.read,
  path: '/v1/sessions/:id/events/stream',
  summary: 'What happens in a session from now on, as server-sent events',
  produces: 'text/event-stream',
  errors: { ...REACH_ERRORS, ...errors, 429: ['At most <number> streams at a time'] },
});
