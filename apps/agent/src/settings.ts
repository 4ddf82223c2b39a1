import { AGENT_ID, definitionSchema } from '@troupe/domain';
import { StartError } from '@troupe/kernel';
import { z } from 'zod';

/** The settings of an agent that runs as a program of its own. */

const given = (value: unknown): unknown => (value === '' ? undefined : value);
/** What is no JSON is refused by the schema. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
const text = z.preprocess(given, z.string().trim().min(1).optional());
const url = z.preprocess(
  given,
  z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
);

const place = z.object({
  DATA_DIR: z.preprocess(given, z.string().default('.data/agent')),
  HOST: z.preprocess(given, z.string().default('127.0.0.1')),
  PORT: z.preprocess(given, z.coerce.number().int().min(0).max(65_535).default(18_789)),
  /** `on`: other machines reach the same data, and may be told to run the same agent. */
  DATA_SHARED: z.preprocess(given, z.enum(['on', 'off']).default('off')),
  /** Where that starts it again by itself: a name that only this place has, and no later one. */
  DATA_PLACE: z.preprocess(given, z.uuid().optional()),
  LOG_LEVEL: z.preprocess(given, z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info')),
});

const schema = place.extend({
  AGENT_ID: z.string('is required').regex(AGENT_ID, 'expected letters, digits, _ and -'),
  /** Opens the gateway. */
  GATEWAY_TOKEN: z.string('is required').min(32, 'expected at least 32 characters'),
  /** Shown to the platform when a member of the team is called; opens this gateway too, with fewer rights. */
  MEMBER_TOKEN: text,
  TEAM_ID: text,
  /** The platform, whose models the agent thinks with. */
  PLATFORM_URL: url,
  /** What the agent shows there: the gateway token unless it is told otherwise. */
  PLATFORM_KEY: text,
  /** Where the outside finds this agent; its own listening address when unset. */
  PUBLIC_URL: url,
  /** `on`: wakes itself as its configuration says; `off` where a platform does that. */
  HEARTBEAT: z.preprocess(given, z.enum(['on', 'off']).default('on')),
  /** JSON; what the agent is at its first start. Later changes come through the gateway. */
  AGENT_DEFINITION: z.preprocess(given, z.string().optional()),
  TELEGRAM_TOKEN: text,
  WHATSAPP_TOKEN: text,
  DISCORD_TOKEN: text,
  /** Comma list of hosts of the own network that it may reach, `name` or `name:port`. */
  AGENT_PRIVATE_HOSTS: z.preprocess(given, z.string().default('')).transform((list) =>
    list
      .split(',')
      .map((host) => host.trim())
      .filter(Boolean),
  ),
  /** Where programs of MCP servers that are npm packages come from. */
  NPM_REGISTRY_URL: url.transform((given) => given ?? 'https://registry.npmjs.org'),
  /** What opens its channels, by name, as JSON; the platform gives it. */
  CHANNELS: z.preprocess(
    (text) => (typeof text === 'string' && text !== '' ? parsedJson(text) : {}),
    z.record(z.string(), z.string(), 'must be JSON of settings by channel'),
  ),
  /** Comma list of the services' user ids who may talk to it; empty: everybody. */
  CHANNEL_USERS: z.preprocess(given, z.string().default('')).transform((list) =>
    list
      .split(',')
      .map((id) => id.trim())
      .filter(Boolean),
  ),
});

export type AgentSettings = z.output<typeof schema>;

/** Of the program that gives out an agent's data instead of being the agent. */
const dataSchema = place.extend({ DATA_TOKEN: z.string().min(32, 'expected at least 32 characters') });
export type DataSettings = z.output<typeof dataSchema>;

type Env = Readonly<Record<string, string | undefined>>;

export const readAgentSettings = (env: Env): AgentSettings => read(schema, env);

/** Undefined: the agent itself is wanted. */
export const readDataSettings = (env: Env): DataSettings | undefined =>
  env['DATA_TOKEN'] ? read(dataSchema, env) : undefined;

/** All problems at once, a line each; values are not repeated, they may be secrets. */
function read<T>(of: z.ZodType<T>, env: Env): T {
  const parsed = of.safeParse(env);
  if (parsed.success) return parsed.data;
  throw new StartError(
    parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message.trim()}`).join('\n'),
  );
}

export function firstDefinition({ AGENT_ID, AGENT_DEFINITION }: AgentSettings) {
  let value: unknown;
  try {
    value = AGENT_DEFINITION === undefined ? { name: AGENT_ID } : JSON.parse(AGENT_DEFINITION);
  } catch {
    throw new StartError('AGENT_DEFINITION: expected JSON');
  }
  const parsed = definitionSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new StartError(`AGENT_DEFINITION: ${issue?.path.join('.')}: ${issue?.message.trim()}`);
}
