import type { Permissions } from '../permissions.ts';
import { teamSchema, type About, type GivenAgent, type GivenTeam } from './document.ts';
import { createModels, providersOf, type Models } from './models.ts';
import { collectionsOf, filesToGive, searchedBy, type TeamCollection } from './rag.ts';
import { gatewayServers, serverOf, type McpToolset } from './servers.ts';
import { createSieve, Unfit, type Note, type Notes } from './sift.ts';
import { traitsOf } from './traits-of.ts';
import type { Traits } from './traits.ts';
import { TEAM_MODEL, TEAM_TOOLS, type TeamTemplate } from './templates.ts';

/**
 * A team as it is written down and run: docker-agent's YAML with the fields that this platform adds (name, role, tools as
 * a plain list, memory_shared). What docker-agent itself runs is read too. The first agent leads, or the one called root.
 */

export const CUSTOM_TEAM_NAME = 'Custom Team';
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
  /** Whom it may hand its conversations to, and who has to take them after its answer. */
  handoffs?: string[];
  forceHandoff?: string;
  /** Of its owner's library, by name. */
  skills: readonly string[] | 'all';
  /** Turns of a run. */
  maxTurns?: number;
  /** Names of the team's collections. */
  knowledge?: string[];
  traits?: Traits;
}

export interface Team {
  name: string;
  description: string;
  about?: About;
  /** For all of its agents. */
  permissions?: Permissions;
  /** Documents that its agents search. */
  knowledge?: TeamCollection[];
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
    const models = createModels(parsed.data.models, sieve, providersOf(parsed.data.providers, sieve));
    const collections = collectionsOf(parsed.data.rag, sieve, models);
    const team = build(parsed.data, { models, notes, collections });
    filesToGive(collections, notes);
    return { ok: true, team, notCarried: notes.lost, toGive: notes.toGive };
  } catch (error) {
    if (error instanceof Unfit) return { ok: false, error: error.message };
    throw error;
  }
}

interface With {
  models: Models;
  notes: Notes;
  collections: TeamCollection[];
}

function build(given: GivenTeam, { models, notes, collections }: With): Team {
  const { name = CUSTOM_TEAM_NAME, metadata = {}, agents, permissions, mcps } = given;
  const { description: told, ...about } = metadata;
  const order = Object.keys(agents).sort((a, b) => Number(b === 'root') - Number(a === 'root'));
  const shared = sharedPaths(Object.values(agents));
  const team: Team = {
    name,
    description: given.description ?? told ?? '',
    ...(Object.keys(about).length > 0 && { about }),
    ...(permissions && { permissions }),
    ...(collections.length > 0 && { knowledge: collections }),
    agents: order.map((agentName, index) => {
      const one = agents[agentName]!;
      const { sub_agents: named, handoffs, force_handoff: forced } = one;
      const others = index === 0 && !handoffs && forced === undefined ? order.slice(1) : [];
      return agentOf(agentName, one, {
        models,
        mcps,
        notes,
        shared,
        searched: searchedBy(one, `agents.${agentName}`, collections),
        subAgents: [...new Set(named ?? others)],
      });
    }),
  };
  checkMembers(team, order);
  return team;
}

function checkMembers({ agents }: Team, known: readonly string[]): void {
  for (const { name, subAgents, handoffs = [], forceHandoff } of agents) {
    const lists = { sub_agents: subAgents, handoffs, force_handoff: forceHandoff === undefined ? [] : [forceHandoff] };
    for (const [key, names] of Object.entries(lists)) {
      const unknown = names.find((one) => !known.includes(one) || one === name);
      if (unknown !== undefined)
        throw new Unfit(`agents.${name}.${key}`, `${unknown} is not another agent of the team`);
    }
    if (inCircle(agents, name)) throw new Unfit(`agents.${name}.force_handoff`, 'the agents hand over in a circle');
  }
}

/** Whoever has to hand over for ever never answers. */
function inCircle(agents: readonly TeamAgent[], first: string): boolean {
  const after = new Map(agents.map(({ name, forceHandoff }) => [name, forceHandoff]));
  const seen = new Set<string>();
  for (let name: string | undefined = first; name !== undefined; name = after.get(name)) {
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

interface Around {
  models: Models;
  mcps: GivenTeam['mcps'];
  notes: Notes;
  /** Paths of memories that several agents name. */
  shared: ReadonlySet<string>;
  searched: readonly TeamCollection[];
  subAgents: string[];
}

function agentOf(name: string, given: GivenAgent, around: Around): TeamAgent {
  const { models, mcps, notes, shared, searched, subAgents } = around;
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
    return (gatewayServers(one) ?? [one]).flatMap((wanted) => {
      const server = serverOf(wanted, { at: `${at}.toolsets.${index}`, mcps, notes });
      return server ? [{ server, given: one }] : [];
    });
  });
  const mcp = unlike(servers.map(({ server }) => server));
  const traits = traitsOf(given, {
    at,
    notes,
    plain,
    sampling,
    routing: first?.routing,
    inTurn: further.length > 0 ? inTurn : undefined,
    searched,
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
    ...(given.handoffs && given.handoffs.length > 0 && { handoffs: [...new Set(given.handoffs)] }),
    ...(given.force_handoff !== undefined && { forceHandoff: given.force_handoff }),
    skills: named ?? [],
    ...(turns !== undefined && turns > 0 && { maxTurns: turns }),
    ...(searched.length > 0 && { knowledge: searched.map((one) => one.name) }),
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
