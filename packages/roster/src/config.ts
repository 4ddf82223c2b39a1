import {
  defaultAgentConfig,
  readAgentConfig,
  toolsetNames,
  type AgentConfig,
  type AgentDefinition,
  type ToolsetName,
} from '@troupe/domain';
import { AppError, sha256Hex } from '@troupe/kernel';

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

/** Names of tools as somebody wrote them. */
export function readTools(tools: readonly string[]): ToolsetName[] {
  const unknown = tools.find((tool) => !(toolsetNames as readonly string[]).includes(tool));
  if (unknown !== undefined)
    throw new AppError(400, `Unknown tool ${unknown || 'without a name'}. Known are: ${toolsetNames.join(', ')}`);
  return tools as ToolsetName[];
}

interface GivenPurpose {
  instruction?: string | undefined;
  tools?: readonly string[] | undefined;
}

export const readPurpose = ({ instruction, tools }: GivenPurpose = {}): Partial<
  Pick<AgentDefinition, 'instruction' | 'tools'>
> => ({
  ...(instruction !== undefined && { instruction }),
  ...(tools && { tools: readTools(tools) }),
});

/** In one order, whatever the database made of it. */
const ordered = (_: string, value: unknown): unknown =>
  isPart(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

/** What an agent is and does, in 64 characters; its name is no part of that. */
export function definitionDigest(definition: AgentDefinition): string {
  return sha256Hex(JSON.stringify({ ...definition, name: undefined }, ordered));
}
