import { z } from 'zod';
import { timestamp, nullableTimestamp, wholeQuery } from '../common.ts';
import { AGENT_NAME_LENGTH, TAG_LENGTH } from '../forms.ts';

/** Fields that the agents' endpoints of web and backend share, with their exact texts. */

export const AGENT_NOT_FOUND = 'Agent not found';
/** What a stream of events says to programs when its agent was deleted meanwhile. */
export const AGENT_GONE = 'AGENT_GONE';
/** To whoever waits for an answer when the agent is stopped. */
export const AGENT_STOPPED = 'The agent was stopped; its work goes on when it runs again.';
/** Of an agent’s work in the background. */
export const TASK_NOT_FOUND = 'Background task not found';
export const MESSAGE_TOO_LARGE = 'A message may have 256 KB at most';
export const SUBSCRIPTION_REQUIRED_TEXT = 'Active subscription required';
export const PLAN_MISMATCH_TEXT = 'Plan <plan> is not part of your subscription';
export const AGENT_LIMIT_TEXT = 'Agent limit reached for <plan> plan';
export const TOO_MANY_SKILLS_TEXT = 'Too many skills for the <plan> plan (max <n>)';
export const BUSY_AGENT_TEXT = 'Another action is going on for this agent';
export const TAKEN_TEXTS = [
  'An agent with this id exists already',
  'An agent whose id differs only in capitals exists already',
];
export const BAD_CONFIG_TEXTS = [
  'Invalid config object',
  'Invalid config object: <reason>',
  'Config too large (max <n> characters)',
];
/** Of a model’s call that is not paid for any more. */
export const SPENT_TEXTS = [
  'Spend cap reached: <used> of <limit> USD used',
  'Spend cap of this <scope> reached: <used> of <limit> USD used',
  'Monthly token quota reached: <used> of <limit> tokens used',
];
export const NO_MODEL_TEXTS = ['There is no model <name>.', 'There is no model <name>. Did you mean <names>?'];
/** What there is to say where agents run, of any that is reached there: a container engine, a hosting platform. */
export const DRIVER_TEXTS = [
  'The agent answered <status> on <path>',
  'The agent did not become healthy in time',
  'The agent’s container ends as soon as it starts',
  'The agent does not answer on the hosting platform',
  'An answer was larger than <n> MB',
  'The container engine is not available',
  'The container engine refused: <reason>',
  'The container engine has no bridge, and on this machine’s own network an agent would reach everything that listens here: give the engine a bridge, or set AGENT_HOST_NETWORK=true',
  'There is no image <image> on the container engine',
  'The cluster refused: <reason>',
  'The cluster cannot get the image: <reason>',
  'The cluster has no place for the agent: <reason>',
  'The cluster did not end the agent in time',
  'The cluster did not end the copy of the agent’s data in time',
  'The cluster did not remove the agent’s old data in time',
  'The agent’s data cannot be reached in the cluster',
  'The agent’s data could not be copied: <status>',
  'The hosting platform is not available',
  'The hosting platform answered <status>',
  'The hosting platform answered with no JSON',
  'The hosting platform answered without a service',
];
/** Why an agent does not start, beside that. */
export const START_TEXTS = ['The agent could not be started'];
/** Why there is no copy of an agent. */
export const NO_COPY_TEXTS = [
  'The hosting platform gives no way to copy an agent’s data: it cannot be backed up, restored or updated there',
  'The agent has too many files and folders to back up',
  'The agent’s data is too large to back up',
];
export const PROVISIONING_DISABLED_TEXT = 'Provisioning is temporarily disabled. Contact support.';

/** 1 to 64 characters of any script after trimming; a character is a code point, so an emoji is not two. */
export const agentName = (missing: string, long = 'Name too long (max 64 chars)') =>
  z
    .string({ error: missing })
    .trim()
    .min(1, missing)
    .refine((name) => Array.from(name).length <= AGENT_NAME_LENGTH, long)
    .regex(/^\P{Cc}*$/u, 'Invalid name');

const MOST_TAGS = 10;
const TAG_TEXT = `A tag has 1 to ${TAG_LENGTH} characters`;
const TAGS_TEXT = `At most ${MOST_TAGS} tags`;
export const TAG_TEXTS = [TAG_TEXT, TAGS_TEXT];

/** Words by which an owner finds agents; one that is there twice counts once. */
export const agentTags = z
  .array(
    z
      .string()
      .trim()
      .min(1, TAG_TEXT)
      .refine((tag) => Array.from(tag).length <= TAG_LENGTH, TAG_TEXT)
      .regex(/^\P{Cc}*$/u, TAG_TEXT),
  )
  .max(100, TAGS_TEXT)
  .transform((tags) => [...new Map(tags.map((tag) => [tag.toLowerCase(), tag])).values()])
  .refine((tags) => tags.length <= MOST_TAGS, TAGS_TEXT);

export const agentStatus = z.enum(['pending', 'provisioning', 'running', 'active', 'stopped', 'error', 'failed']);
export const agentParams = z.object({ id: z.string() });
/** Of lists of agents. */
export const agentPage = z.object({ limit: wholeQuery(1000, 1, 1000), offset: wholeQuery(0, 0, 1_000_000) });

/** Any settings; which of them mean something is the service's to say. */
export const settingsObject = z.record(z.string(), z.unknown());

/** Of a change whose agent takes only what its cases have passed with. */
export const NOT_PASSED_TEXTS = [
  'The cases of this agent have not been tried with this change. Try them with it, or save it without a trial',
  'With this change the case <name> is not passed: <why>',
  'With this change the case <name> is not passed (and <n> more): <why>',
];
/** Of a change, also where its cases have not passed with it. */
export const forceQuery = z.object({
  force: z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => value === 'true')
    .describe('Take it also where its cases have not passed with it'),
});

export const UNKNOWN_TOOL_TEXT = 'Unknown tool <name>. Known are: <names>';

/** What an agent is for and what it may use; what is left out stays. */
export const agentPurpose = z.object({
  instruction: z.string().max(50_000).optional().describe('Empty: a helpful assistant'),
  tools: z.array(z.string().max(50)).max(50).optional(),
});

const VERIFICATION_TYPES = ['eas', 'ens', 'webauthn', 'coinbase'] as const;
const BAD_TYPE = 'Invalid verification type';

export const verification = z.object({
  verified: z.boolean(),
  verificationType: z.string().nullable(),
  attestationUid: z.string().nullable(),
  verifierAddress: z.string().nullable(),
  verifiedAt: nullableTimestamp,
  metadata: z.unknown(),
});

export const verifyBody = z.object({
  verificationType: z.enum(VERIFICATION_TYPES, { error: BAD_TYPE }),
  verified: z.boolean().default(true),
  attestationUid: z.string().max(200).optional(),
  verifierAddress: z.string().max(200).optional(),
  metadata: settingsObject.optional(),
});
export const VERIFY_ERRORS = { 400: [BAD_TYPE], 404: [AGENT_NOT_FOUND] };

const figure = z.number().nullable();

/** Null where nothing can be measured. */
export const agentStats = z.object({
  agentId: z.string(),
  cpu: figure,
  memory: figure,
  memoryPercent: figure,
  network: z.object({ rx: z.number(), tx: z.number() }).nullable(),
  uptime: figure,
  uptimeFormatted: z.string().nullable(),
  status: z.string().nullable(),
  pids: figure,
  messagesProcessed: figure,
  messagesPerHour: figure,
  averageResponseTime: figure,
  successRate: figure,
  errorRate: figure,
});
export type AgentStats = z.output<typeof agentStats>;

const AI_PROVIDERS = ['openrouter', 'gemini', 'groq', 'anthropic', 'openai', 'ollama'] as const;
const BAD_PROVIDER = `Invalid aiProvider. Supported: ${AI_PROVIDERS.join(', ')}`;
const aiProvider = z.enum(AI_PROVIDERS, { error: BAD_PROVIDER });

const channelToken = z.string().trim().max(1000).optional();

/** What both provisioning routes take. Channel A is Telegram, B WhatsApp, C Discord. */
export const provisionBody = z.object({
  channelTokenA: channelToken,
  channelTokenB: channelToken,
  channelTokenC: channelToken,
  channelUserId: z.string().max(200).optional(),
  aiProvider: aiProvider.default('openrouter'),
  apiKey: z.string().max(1000).optional(),
  plan: z.string().max(50).optional(),
  model: z.string().trim().min(1).max(200).optional(),
  skills: z.array(z.string().max(200)).max(1000).default([]),
  agentType: z.string().max(50).default('creative'),
  autoProvision: z.boolean().default(false),
  name: agentName('Agent name is required').optional(),
  instruction: z.string().max(50_000).optional(),
});
export type ProvisionBody = z.output<typeof provisionBody>;
const NO_CHANNEL = 'At least one channel token required';
export const PROVISION_BAD_INPUT = [NO_CHANNEL, BAD_PROVIDER];

export const templates = z.object({
  templates: z.array(
    z.object({
      key: z.string(),
      name: z.string(),
      description: z.string(),
      agent_count: z.number(),
      agents: z.array(z.object({ name: z.string(), role: z.string() })),
    }),
  ),
  categories: z.array(z.object({ key: z.string(), label: z.string(), templates: z.array(z.string()) })),
});

/** What was said in a conversation with an agent, as web shows it. */
export const shownMessage = z.object({
  id: z.string(),
  agentId: z.string(),
  sender: z.enum(['user', 'agent']),
  content: z.string(),
  timestamp,
  platform: z.string(),
});

/** What every internal endpoint of the backend answers those who may not ask. */
export const denied = { 401: ['Unauthorized'], 403: ['Forbidden'] } as const;
