import { defaultAgentConfig, readAgentConfig, type AgentConfig } from '@troupe/domain';
import { AppError } from '@troupe/kernel';

export type ConfigPart = Record<string, unknown>;

const isPart = (value: unknown): value is ConfigPart =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `upper` on top of `lower`, section by section, so that a change of one field leaves its neighbours alone. */
export function layered(lower: ConfigPart, upper: ConfigPart): ConfigPart {
  const merged: ConfigPart = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = lower[key];
    merged[key] = isPart(below) && isPart(value) ? { ...below, ...value } : value;
  }
  return merged;
}

/** What an agent runs with: its user's default (or the platform's), and its own changes on top. */
export function effectiveConfig(userDefault: unknown, model: string, own: unknown): AgentConfig {
  const lower = isPart(userDefault) ? userDefault : defaultAgentConfig(model || undefined);
  const reading = readAgentConfig(layered(lower, isPart(own) ? own : {}));
  if (!reading.ok) throw new AppError(400, reading.error);
  return reading.config;
}
