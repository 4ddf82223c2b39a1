import { z } from 'zod';
import { permissionsSchema, type Permissions } from '../permissions.ts';
import { isSkillName } from '../skills/skill.ts';
import { createModels, type Models } from './models.ts';
import { mcpDefinition, mcpToolset, serverOf, type McpToolset } from './servers.ts';
import { createSieve, Unfit, type Note, type Notes } from './sift.ts';
import { traitsOf } from './traits-of.ts';
import {
  a2aSchema,
  apiSchema,
  deferSchema,
  openApiSchema,
  outputSchema,
  postEditSchema,
  scriptSchema,
  type Traits,
} from './traits.ts';
import { TEAM_MODEL, TEAM_TOOLS, type TeamTemplate } from './templates.ts';

/**
 * A team as it is written down and run: docker-agent's YAML with the fields that this platform adds (name, role, tools as
 * a plain list, memory_shared). What docker-agent itself runs is read too. The first agent leads, or the one called root.
 */

export const CUSTOM_TEAM_NAME = 'Custom Team';
const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_AGENTS = 50;

const tool = z.enum(TEAM_TOOLS, { error: `unknown tool; known are ${TEAM_TOOLS.join(', ')}` });

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

const modelName = z.string().trim().min(1).max(1000);
const hints = {
  instruction: z.string().max(20_000).optional(),
  model: modelName.optional(),
  defer: deferSchema.optional(),
};
const offered = z.array(z.string().max(200)).max(200).optional();

const toolset = z.discriminatedUnion('type', [
  mcpToolset,
  z.strictObject({ type: z.literal('openapi'), ...openApiSchema.shape, tools: offered, ...hints }),
  z.strictObject({
    type: z.literal('a2a'),
    ...a2aSchema.partial({ name: true }).shape,
    tools: offered,
    ...hints,
  }),
  z.strictObject({ type: z.literal('script'), shell: z.record(z.string(), scriptSchema), tools: offered, ...hints }),
  z.strictObject({
    type: z.literal('model_picker'),
    models: z.array(modelName).min(1).max(20),
    tools: offered,
    ...hints,
  }),
  z.strictObject({ type: z.literal('api'), api_config: apiSchema, tools: offered, ...hints }),
  z.strictObject({
    type: tool,
    tools: offered,
    shared: z.boolean().optional(),
    path: z.string().max(1000).optional(),
    post_edit: z.array(postEditSchema).max(20).optional(),
    ...hints,
  }),
]);
export type GivenToolset = z.output<typeof toolset>;

const names = z.array(z.string()).max(MAX_AGENTS).optional();
const commandText = z.union([
  z.string().min(1).max(20_000),
  z.strictObject({ description: z.string().max(500).optional(), instruction: z.string().min(1).max(20_000) }),
]);

const agentSchema = z.strictObject({
  role: z.string().trim().max(200).default(''),
  description: z.string().trim().max(2000).default(''),
  model: modelName.default(TEAM_MODEL),
  fallback: z.strictObject({ models: z.array(modelName).max(10).optional() }).optional(),
  tools: z.array(tool).max(TEAM_TOOLS.length).optional(),
  toolsets: z.array(toolset).max(30).optional(),
  memory_shared: z.boolean().optional(),
  instruction: z.string().max(50_000).default(''),
  sub_agents: names,
  handoffs: names,
  skills: skills.optional(),
  welcome_message: z.string().max(10_000).optional(),
  commands: z
    .union([z.record(z.string(), commandText), z.array(z.record(z.string(), commandText)).max(100)])
    .optional(),
  add_date: z.boolean().optional(),
  add_environment_info: z.boolean().optional(),
  add_prompt_files: z.array(z.string().min(1).max(500)).max(10).optional(),
  max_iterations: z.int().min(0).max(1000).optional(),
  structured_output: outputSchema.optional(),
  readonly: z.boolean().optional(),
});
export type GivenAgent = z.output<typeof agentSchema>;

const shortText = z.string().max(20_000).optional();
const aboutSchema = z.strictObject({
  author: shortText,
  license: shortText,
  readme: shortText,
  version: z.union([z.string().max(200), z.number().transform(String)]).optional(),
  tags: z.array(z.string().max(200)).max(50).optional(),
});
type About = z.output<typeof aboutSchema>;

const teamSchema = z.strictObject({
  version: z.union([z.string().max(50), z.number()]).optional(),
  name: z.string().trim().min(1).max(200).optional(),
  description: z.string().max(5000).optional(),
  metadata: aboutSchema.extend({ description: z.string().max(5000).optional() }).optional(),
  /** Agents may name one of these in place of a model. */
  models: z.record(z.string(), z.unknown()).default({}),
  mcps: z.record(z.string(), mcpDefinition).default({}),
  permissions: permissionsSchema.optional(),
  agents: z
    .record(z.string(), agentSchema)
    .refine((agents) => Object.keys(agents).every((name) => AGENT_NAME.test(name)), {
      message: 'agent names are letters, digits, _ and -, at most 64',
    })
    .refine((agents) => Object.keys(agents).length > 0, { message: 'a team needs at least one agent' })
    .refine((agents) => Object.keys(agents).length <= MAX_AGENTS, { message: `at most ${MAX_AGENTS} agents` }),
});
type GivenTeam = z.output<typeof teamSchema>;

export interface TeamAgent {
  name: string;
  role: string;
  description: string;
  model: string;
  /** Asked in this order when the model fails. */
  fallbacks?: string[];
  tools: (typeof TEAM_TOOLS)[number][];
  mcp: McpToolset[];
  memoryShared: boolean;
  instruction: string;
  /** Whom this one may hand tasks to. */
  subAgents: string[];
  /** Of its owner's library, by name. */
  skills: readonly string[] | 'all';
  /** Turns of a run. */
  maxTurns?: number;
  traits?: Traits;
}

export interface Team {
  name: string;
  description: string;
  about?: About;
  /** For all of its agents. */
  permissions?: Permissions;
  agents: TeamAgent[];
}

/** `notCarried`: what the document says and the team does not do. `toGive`: what its owner has to add before it works. */
export type TeamReading = { ok: true; team: Team; notCarried: Note[]; toGive: Note[] } | { ok: false; error: string };

/** Checks what a document or a request says. The error names the place; what is not carried over is noted, never dropped. */
export function readTeam(raw: unknown): TeamReading {
  try {
    const sieve = createSieve();
    const parsed = teamSchema.safeParse(sieve.team(raw));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return { ok: false, error: `Invalid team: ${issue?.path.join('.') || 'document'}: ${issue?.message.trim()}` };
    }
    const { notes } = sieve;
    const team = build(parsed.data, createModels(parsed.data.models, sieve), notes);
    return { ok: true, team, notCarried: notes.lost, toGive: notes.toGive };
  } catch (error) {
    if (error instanceof Unfit) return { ok: false, error: error.message };
    throw error;
  }
}

function build(given: GivenTeam, models: Models, notes: Notes): Team {
  const { name = CUSTOM_TEAM_NAME, metadata = {}, agents, permissions, mcps } = given;
  const { description: told, ...about } = metadata;
  const order = Object.keys(agents).sort((a, b) => Number(b === 'root') - Number(a === 'root'));
  const shared = sharedPaths(Object.values(agents));
  const team: Team = {
    name,
    description: given.description ?? told ?? '',
    ...(Object.keys(about).length > 0 && { about }),
    ...(permissions && { permissions }),
    agents: order.map((agentName, index) => {
      const one = agents[agentName]!;
      const others = index === 0 && !one.handoffs ? order.slice(1) : [];
      const { sub_agents, handoffs = [] } = one;
      return agentOf(agentName, one, {
        models,
        mcps,
        notes,
        shared,
        subAgents: [...new Set([...(sub_agents ?? others), ...handoffs])],
      });
    }),
  };
  checkMembers(team, order);
  return team;
}

function checkMembers({ agents }: Team, known: readonly string[]): void {
  for (const { name, subAgents } of agents) {
    const unknown = subAgents.find((sub) => !known.includes(sub) || sub === name);
    if (unknown !== undefined)
      throw new Unfit(`agents.${name}.sub_agents`, `${unknown} is not another agent of the team`);
  }
}

interface Around {
  models: Models;
  mcps: GivenTeam['mcps'];
  notes: Notes;
  /** Paths of memories that several agents name. */
  shared: ReadonlySet<string>;
  subAgents: string[];
}

function agentOf(name: string, given: GivenAgent, { models, mcps, notes, shared, subAgents }: Around): TeamAgent {
  const at = `agents.${name}`;
  const { role, description, instruction, toolsets = [], tools = [], max_iterations: turns, skills: named } = given;
  const [first, ...further] = given.model.split(',').map((one) => models.named(one.trim(), `${at}.model`));
  const sampling = first?.sampling;
  const plain = (wanted: string, place: string): string => models.plain(wanted, place, sampling, notes);
  const inTurn = [
    first?.model ?? '',
    ...given.model
      .split(',')
      .slice(1)
      .map((one) => plain(one.trim(), `${at}.model`)),
  ];
  const fallbacks = (given.fallback?.models ?? []).map((one) => plain(one, `${at}.fallback.models`));
  const servers = toolsets.flatMap((one, index) => {
    if (one.type !== 'mcp') return [];
    const server = serverOf(one, { at: `${at}.toolsets.${index}`, mcps, notes });
    return server ? [{ server, given: one }] : [];
  });
  const mcp = unlike(servers.map(({ server }) => server));
  const traits = traitsOf(given, {
    at,
    notes,
    plain,
    sampling,
    routing: first?.routing,
    inTurn: further.length > 0 ? inTurn : undefined,
    servers: servers.map((one, index) => ({ name: mcp[index]?.name ?? '', given: one.given })),
  });
  const path = toolsets.find((one) => one.type === 'memory' && 'path' in one);
  const pathNamed = path && 'path' in path ? path.path : undefined;
  return {
    name,
    role: role || name,
    description,
    model: first?.model ?? '',
    ...(fallbacks.length > 0 && { fallbacks }),
    tools: [...new Set([...tools, ...toolsets.flatMap(({ type }) => TEAM_TOOLS.filter((one) => one === type))])],
    mcp,
    memoryShared: given.memory_shared ?? (pathNamed === undefined || shared.has(pathNamed)),
    instruction,
    subAgents,
    skills: named ?? [],
    ...(turns !== undefined && turns > 0 && { maxTurns: turns }),
    ...(traits && { traits }),
  };
}

/** Servers without a name are numbered; two of a name cannot be told apart by their tools. */
function unlike(servers: readonly McpToolset[]): McpToolset[] {
  const taken = new Set(servers.map(({ name }) => name));
  const seen = new Set<string>();
  return servers.map((server, index) => {
    let name = server.name ?? `mcp${index + 1}`;
    for (let n = 2; seen.has(name) || (server.name === undefined && taken.has(name)); n++)
      name = `${(server.name ?? `mcp${index + 1}`).slice(0, 36)}-${n}`;
    seen.add(name);
    return { ...server, name };
  });
}

function sharedPaths(agents: readonly GivenAgent[]): Set<string> {
  const paths = agents.flatMap(({ toolsets = [] }) =>
    toolsets.flatMap((one) => (one.type === 'memory' && one.path !== undefined ? [one.path] : [])),
  );
  return new Set(paths.filter((path, index) => paths.indexOf(path) !== index));
}

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
