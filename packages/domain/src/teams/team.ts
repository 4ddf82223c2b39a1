import { z } from 'zod';
import { isSkillName } from '../skills/skill.ts';
import { TEAM_MODEL, TEAM_TOOLS, type TeamTemplate } from './templates.ts';

/**
 * A team as it is written down and run: docker-agent's YAML with the fields that this platform adds (name, role, tools as
 * a plain list, memory_shared). What docker-agent itself runs is read too. The first agent leads, or the one called root.
 */

export const CUSTOM_TEAM_NAME = 'Custom Team';
const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_AGENTS = 50;

const remote = z.object({
  url: z.url({ protocol: /^https?$/ }),
  transport_type: z.literal('streamable').optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

const mcpToolset = z
  .object({
    type: z.literal('mcp'),
    name: z.string().regex(AGENT_NAME).optional(),
    command: z.string().min(1).max(500).optional(),
    args: z.array(z.string().max(2000)).max(50).optional(),
    env: z.record(z.string(), z.string()).optional(),
    remote: remote.optional(),
    /** Only these of the server's tools are offered; all when left out. */
    tools: z.array(z.string()).optional(),
  })
  .refine(({ command, remote: url }) => (command === undefined) !== (url === undefined), {
    message: 'an mcp toolset needs either command or remote',
  });

export type McpToolset = z.output<typeof mcpToolset>;

const tool = z.enum(TEAM_TOOLS, { error: `unknown tool; known are ${TEAM_TOOLS.join(', ')}` });
const plainToolset = z.object({ type: tool }).transform(({ type }) => type);

/** Names of the owner's library; `true`, or `local` alone, means all of it. What is elsewhere goes through a review first. */
const skills = z
  .union([z.boolean(), z.array(z.string().max(2000)).max(100)], 'skills must be true, false or a list of names')
  .superRefine((given, context) => {
    for (const name of Array.isArray(given) ? given : []) {
      if (name === 'local' || isSkillName(name)) continue;
      const message = /^https?:/.test(name)
        ? 'skills are not fetched from addresses here: put it into your library and name it'
        : `${name.slice(0, 100)} is no name of a skill`;
      context.addIssue({ code: 'custom', message });
    }
  })
  .transform((given): readonly string[] | 'all' => {
    if (typeof given === 'boolean') return given ? 'all' : [];
    const names = given.filter((name) => name !== 'local');
    // A source beside names does not widen what they say.
    return names.length === 0 && given.length > 0 ? 'all' : [...new Set(names)];
  });

const agentSchema = z.object({
  role: z.string().trim().max(200).default(''),
  description: z.string().trim().max(2000).default(''),
  model: z.string().trim().min(1).max(200).default(TEAM_MODEL),
  tools: z.array(tool).max(TEAM_TOOLS.length).optional(),
  toolsets: z
    .array(z.union([mcpToolset, plainToolset], `unknown toolset; known are ${[...TEAM_TOOLS, 'mcp'].join(', ')}`))
    .max(30)
    .optional(),
  memory_shared: z.boolean().default(true),
  instruction: z.string().max(20_000).default(''),
  sub_agents: z.array(z.string()).max(MAX_AGENTS).optional(),
  skills: skills.optional(),
});

const namedModel = z.object({ provider: z.string().trim().min(1).max(100), model: z.string().trim().min(1).max(200) });

const teamSchema = z.object({
  name: z.string().trim().min(1).max(200).optional(),
  description: z.string().max(5000).optional(),
  metadata: z.object({ description: z.string().max(5000).optional() }).optional(),
  /** Agents may name one of these in place of a model. */
  models: z.record(z.string(), namedModel).default({}),
  skills: z
    .never('skills are not written into a team: put them into your library and name them in its agents')
    .optional(),
  agents: z
    .record(z.string(), agentSchema)
    .refine((agents) => Object.keys(agents).every((name) => AGENT_NAME.test(name)), {
      message: 'agent names are letters, digits, _ and -, at most 64',
    })
    .refine((agents) => Object.keys(agents).length > 0, { message: 'a team needs at least one agent' })
    .refine((agents) => Object.keys(agents).length <= MAX_AGENTS, { message: `at most ${MAX_AGENTS} agents` }),
});

export interface TeamAgent {
  name: string;
  role: string;
  description: string;
  model: string;
  tools: (typeof TEAM_TOOLS)[number][];
  mcp: McpToolset[];
  memoryShared: boolean;
  instruction: string;
  /** Whom this one may hand tasks to. */
  subAgents: string[];
  /** Of its owner's library, by name. */
  skills: readonly string[] | 'all';
}

export interface Team {
  name: string;
  description: string;
  agents: TeamAgent[];
}

export type TeamReading = { ok: true; team: Team } | { ok: false; error: string };

/** Checks what a document or a request says. The error names the place. */
export function readTeam(raw: unknown): TeamReading {
  const parsed = teamSchema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, error: `Invalid team: ${issue?.path.join('.') || 'document'}: ${issue?.message.trim()}` };
  }
  const { name = CUSTOM_TEAM_NAME, metadata, description = metadata?.description ?? '', agents } = parsed.data;
  const models = new Map(Object.entries(parsed.data.models));
  const names = Object.keys(agents).sort((a, b) => Number(b === 'root') - Number(a === 'root'));
  const team: Team = {
    name,
    description,
    agents: names.map((agentName, index) => {
      const {
        role,
        tools = [],
        toolsets = [],
        model,
        memory_shared: memoryShared,
        sub_agents,
        skills: named = [],
        ...rest
      } = agents[agentName]!;
      return {
        ...rest,
        name: agentName,
        role: role || agentName,
        model: modelOf(models.get(model)) ?? model,
        tools: [...new Set([...tools, ...toolsets.filter((entry) => typeof entry === 'string')])],
        mcp: toolsets.filter((entry) => typeof entry === 'object'),
        memoryShared,
        subAgents: sub_agents ?? (index === 0 ? names.slice(1) : []),
        skills: named,
      };
    }),
  };
  for (const { name: agentName, subAgents } of team.agents) {
    const unknown = subAgents.find((sub) => !names.includes(sub) || sub === agentName);
    if (unknown !== undefined)
      return {
        ok: false,
        error: `Invalid team: agents.${agentName}.sub_agents: ${unknown} is not another agent of the team`,
      };
  }
  return { ok: true, team };
}

const modelOf = (named: z.output<typeof namedModel> | undefined): string | undefined =>
  named && `${named.provider}/${named.model}`;

export function teamFromTemplate(template: TeamTemplate): Team {
  const names = template.agents.map(({ name }) => name);
  return {
    name: template.name,
    description: template.description,
    agents: template.agents.map(({ name, role, tools, duty, skills: known }, index) => ({
      name,
      role,
      description: duty,
      model: TEAM_MODEL,
      tools: [...tools],
      mcp: [],
      memoryShared: true,
      instruction: `You are the ${role} of the ${template.name}. ${duty}`,
      subAgents: index === 0 ? names.slice(1) : [],
      skills: known,
    })),
  };
}

export interface CustomAgent {
  name: string;
  role: string;
  description: string;
  instruction: string;
  model: string;
  tools: string[];
  memoryShared: boolean;
  skills?: string[] | undefined;
}

/** A team of agents that somebody sent; checked by the same rules as YAML. */
export function teamFromCustom(agents: readonly CustomAgent[]): TeamReading {
  const names = agents.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) return { ok: false, error: `Invalid team: two agents are called ${repeated}` };
  return readTeam({
    name: CUSTOM_TEAM_NAME,
    description: agents.map(({ role }) => role).join(' + '),
    agents: Object.fromEntries(
      agents.map(({ name, memoryShared, ...rest }) => [name, { ...rest, memory_shared: memoryShared }]),
    ),
  });
}
