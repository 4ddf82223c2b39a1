import { z } from 'zod';
import { MOST_STANDING, standingRule } from './standing.ts';

/** Longer than any that can be given: the id of a member is that of its team and its own name. */
export const AGENT_ID = /^[A-Za-z0-9_-]{1,130}$/;

/** What an owner may change about a running agent. Unknown keys are kept: other programs' settings live here too. */

export const DEFAULT_AGENT_MODEL = 'xiaomi/mimo-v2-pro';

const channel = (enabled: boolean) => z.looseObject({ enabled: z.boolean().default(enabled) }).prefault({});
const whole = (min: number, max: number, fallback: number) => z.int().min(min).max(max).default(fallback);

/** A domain name, or `*.` and one: the second stands for every name below it. */
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, 'is not a domain name');

export const agentConfigSchema = z.looseObject({
  version: z.string().max(32).default('1.0'),
  model: z
    .looseObject({
      default: z.string().trim().min(1).max(200).default(DEFAULT_AGENT_MODEL),
      fallbacks: z.array(z.string().trim().min(1).max(200)).max(10).default([]),
    })
    .prefault({}),
  channels: z
    .looseObject({
      channelA: channel(false),
      channelB: channel(false),
      channelC: channel(false),
      webchat: channel(true),
    })
    .prefault({}),
  memory: z
    .looseObject({
      maxEntries: whole(1, 100_000, 1000),
      ttlDays: whole(1, 3650, 90),
      /** The model that makes numbers of memories and of questions about them; none: they are found by words. */
      embeddings: z.string().trim().min(1).max(200).nullable().optional(),
      /** Whether facts are taken out of conversations that rest. */
      facts: z.boolean().optional(),
    })
    .prefault({}),
  cron: z.looseObject({ heartbeatIntervalMinutes: whole(1, 527_040, 180) }).prefault({}),
  safety: z
    .looseObject({
      maxTokensPerDay: whole(0, 1_000_000_000_000, 1_000_000),
      allowedDomains: z.array(domain).max(200).default([]),
      /** By tool, toolset or `*`: whether the owner is asked before it is used. What none names is allowed. */
      approvals: z.record(z.string().max(100), z.enum(['allow', 'ask', 'deny'])).optional(),
      /** What the owner allowed for good while a call waited: it is not asked about again. */
      standing: z.array(standingRule).max(MOST_STANDING).optional(),
    })
    .prefault({}),
});

export type AgentConfig = z.output<typeof agentConfigSchema>;

export const defaultAgentConfig = (model: string = DEFAULT_AGENT_MODEL): AgentConfig =>
  agentConfigSchema.parse({ model: { default: model } });

export type ConfigReading = { ok: true; config: AgentConfig } | { ok: false; error: string };

/** Reads a configuration somebody sent; what is left out gets its default. The error names the field. */
export function readAgentConfig(value: unknown): ConfigReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, error: 'Invalid config object' };
  }
  const parsed = agentConfigSchema.safeParse(value);
  if (parsed.success) return { ok: true, config: parsed.data };
  const [issue] = parsed.error.issues;
  return {
    ok: false,
    error: `Invalid config object: ${issue?.path.join('.') ?? ''} ${issue?.message.trim() ?? ''}`.trim(),
  };
}

/** Whether a host is covered by the list of allowed domains. A name covers itself and what lies below it. */
export function domainAllowed(host: string, allowed: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return allowed.some((entry) => {
    if (entry.startsWith('*.')) return name.endsWith(entry.slice(1));
    return name === entry || name.endsWith(`.${entry}`);
  });
}
