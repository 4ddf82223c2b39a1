import { z } from 'zod';
import { agentConfigSchema, defaultAgentConfig } from './agent-config.ts';
import { onlyLooks } from './own-tools.ts';
import { permissionFor, permissionsSchema, type CalledTool } from './permissions.ts';
import { isStanding } from './standing.ts';
import { skillRefSchema } from './skills/skill.ts';
import { TEAM_TOOLS, type TeamTool } from './teams/index.ts';
import { traitsSchema } from './teams/traits.ts';
import { webAddress } from './web-address.ts';

/** What an agent is. Saved as numbered versions; each run reads the newest, so a change needs no restart. */

export const toolsetNames = TEAM_TOOLS;
export type ToolsetName = TeamTool;

/** Of an agent whose definition names none. The others are many, or heavy: they are given by name. */
export const USUAL_TOOLSETS: readonly ToolsetName[] = ['filesystem', 'shell', 'think', 'todo', 'memory', 'fetch'];

/** Bounds of one run: from an input to its answer, delegated work included. Time counts while the agent works. */
export const limitsSchema = z.object({
  maxTurns: z.int().min(1).max(1000).default(50),
  maxTokens: z.int().min(1).default(400_000),
  maxCostMicros: z.int().min(0).default(5_000_000),
  maxSeconds: z.int().min(1).max(86_400).default(900),
});
export type RunLimits = z.output<typeof limitsSchema>;

const approvalRule = z.enum(['allow', 'ask', 'deny']);
export type ApprovalRule = z.output<typeof approvalRule>;

export const mcpServerSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  url: webAddress.optional(),
  headers: z.record(z.string(), z.string()).default({}),
  /** What its owner has registered by hand where the server sends those who want access. */
  client: z.object({ id: z.string().min(1), secret: z.string().min(1).optional() }).optional(),
  /** The server's tools that are offered; all of them when left out. */
  tools: z.array(z.string()).optional(),
});
export type McpServer = z.output<typeof mcpServerSchema>;

/** Collections of documents that one agent may search. */
export const MOST_KNOWLEDGE = 20;

const memberSchema = z.object({
  agentId: z.string(),
  name: z.string(),
  role: z.string(),
  description: z.string().default(''),
});
export type TeamMember = z.output<typeof memberSchema>;

export const definitionSchema = z.object({
  name: z.string().min(1).max(200),
  role: z.string().default(''),
  description: z.string().default(''),
  /** Replaces the default instruction when it is not empty. */
  instruction: z.string().max(50_000).default(''),
  tools: z.array(z.enum(toolsetNames)).default([...USUAL_TOOLSETS]),
  /** Memory and todo list are the team's instead of the agent's own. */
  memoryShared: z.boolean().default(false),
  limits: limitsSchema.prefault({}),
  /** By tool name, toolset name or `*`; the most exact one counts. What none names is allowed. */
  approvals: z.record(z.string(), approvalRule).default({}),
  /** By patterns, and by what a call says. Where there are any, what acts and is not named is asked about. */
  permissions: permissionsSchema.optional(),
  /** How it speaks, and what it is shown and offered. */
  traits: traitsSchema.optional(),
  mcpServers: z.array(mcpServerSchema).max(20).default([]),
  /** What it may read up on, each pinned by its digest. They are texts: no tool comes with them. */
  skills: z.array(skillRefSchema).max(100).optional(),
  /** Collections of its owner's documents that it may search. */
  knowledge: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .max(MOST_KNOWLEDGE)
    .optional(),
  /** Model, memory bounds, heartbeat, safety: what the owner changes at run time. */
  config: agentConfigSchema.default(() => defaultAgentConfig()),
  team: z
    .object({
      id: z.string(),
      name: z.string(),
      /** Whom this agent may hand tasks to. */
      members: z.array(memberSchema),
      /** Whom it may hand its conversations to. */
      handoffs: z.array(memberSchema).optional(),
      /** Who goes on with its conversations after its answer. */
      forceHandoff: memberSchema.optional(),
    })
    .optional(),
});
export type AgentDefinition = z.output<typeof definitionSchema>;

/** A whole definition from the parts that somebody gave. */
export const newDefinition = (given: z.input<typeof definitionSchema>): AgentDefinition =>
  definitionSchema.parse(given);

export interface VersionedDefinition {
  version: number;
  definition: AgentDefinition;
}

const STRICTEST: readonly ApprovalRule[] = ['deny', 'ask', 'allow'];
const strictestOf = (...rules: readonly ApprovalRule[]): ApprovalRule =>
  STRICTEST.find((one) => rules.includes(one)) ?? 'deny';

/**
 * The rule for a call. By name: the tool's own first, then its toolset's, then the stricter of `*` and what the owner says
 * of the server for all agents; what the configuration says replaces the definition's. By pattern: the stricter of the two holds. Only for what no pattern names does the owner's word for
 * the tool or its toolset stand alone. What would be asked about and was allowed for good is not asked about.
 */
export function approvalFor(
  { approvals, permissions, config }: AgentDefinition,
  tool: CalledTool,
  args: Readonly<Record<string, unknown>> | undefined,
): ApprovalRule {
  const rules = new Map(Object.entries({ ...approvals, ...config.safety.approvals }));
  const named = rules.get(tool.name) ?? rules.get(tool.toolset);
  const rule = named ?? strictestOf(tool.rule ?? 'allow', rules.get('*') ?? 'allow');
  const isOwn = tool.offeredAs === undefined;
  const patterned = () =>
    permissions &&
    (permissionFor(permissions, tool, args) ?? named ?? (isOwn && onlyLooks(tool.name) ? 'allow' : 'ask'));
  const said = patterned() ?? rule;
  const strictest = strictestOf(rule, said);
  return strictest === 'ask' && isStanding(config.safety.standing ?? [], tool, args) ? 'allow' : strictest;
}

/** Whose memory it reads and writes. */
export const memoryScope = ({ memoryShared, team }: AgentDefinition): 'team' | 'agent' =>
  memoryShared && team !== undefined ? 'team' : 'agent';
