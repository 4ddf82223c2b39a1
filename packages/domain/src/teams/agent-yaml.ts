import type { AgentDefinition, ApprovalRule, McpServer } from '../agent-definition.ts';
import { ownTools } from '../own-tools.ts';
import type { Permissions } from '../permissions.ts';
import type { McpToolset } from './servers.ts';
import { teamYaml } from './team-yaml.ts';
import type { Team, TeamAgent } from './team.ts';
import type { Traits } from './traits.ts';

/** One agent as a document of docker-agent's, to be taken elsewhere. It has no secrets, and allows nothing that the agent may not. */

const MOST_NAME = 64;
const plainName = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MOST_NAME) || 'agent';

/** A value that whoever takes the document has to give. */
const asked = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.keys(values).map((key) => [
      key,
      `\${${key
        .replaceAll(/[^A-Za-z0-9]/g, '_')
        .replace(/^(?=\d)/, '_')
        .toUpperCase()}}`,
    ]),
  );
const isFilled = (values: Readonly<Record<string, string>> | undefined): values is Record<string, string> =>
  values !== undefined && Object.keys(values).length > 0;

const serverOf = ({ name, command, args, env, url, headers, tools }: McpServer): McpToolset => ({
  type: 'mcp',
  name,
  ...(command !== undefined && { command, args, ...(isFilled(env) && { env: asked(env) }) }),
  ...(url !== undefined && { remote: { url, ...(isFilled(headers) && { headers: asked(headers) }) } }),
  ...(tools && { tools }),
});

/** Headers and variables may be secret. */
function withoutSecrets({ scripts, apis, agents, openapi, ...traits }: Traits): Traits {
  const open = <T extends { headers?: Record<string, string> | undefined }>(one: T): T => ({
    ...one,
    ...(isFilled(one.headers) && { headers: asked(one.headers) }),
  });
  return {
    ...traits,
    ...(scripts && {
      scripts: Object.fromEntries(
        Object.entries(scripts).map(([name, one]) => [
          name,
          { ...one, ...(isFilled(one.env) && { env: asked(one.env) }) },
        ]),
      ),
    }),
    ...(apis && { apis: apis.map(open) }),
    ...(agents && { agents: agents.map(open) }),
    ...(openapi && { openapi: openapi.map(open) }),
  };
}

/**
 * Rules by name as patterns. In a document what is allowed goes before what is asked about, so a rule for a whole toolset is
 * written out for each of its tools, and a server is allowed only where none of its tools has a rule of its own.
 */
function permissionsOf({
  approvals,
  permissions,
  config,
  tools,
  mcpServers,
}: AgentDefinition): Permissions | undefined {
  const rules = new Map<string, ApprovalRule>(Object.entries({ ...approvals, ...config.safety.approvals }));
  if (rules.size === 0) return permissions;
  const found: Record<ApprovalRule, string[]> = { allow: [], ask: [], deny: [] };
  const known = new Set<string>(['*']);
  for (const toolset of tools) {
    known.add(toolset);
    for (const name of ownTools(toolset)) {
      known.add(name);
      const rule = rules.get(name) ?? rules.get(toolset) ?? rules.get('*');
      if (rule) found[rule].push(name);
    }
  }
  for (const { name } of mcpServers) known.add(name);
  const others = [...rules].filter(([name]) => !known.has(name));
  for (const [name, rule] of others) found[rule].push(name);
  for (const { name } of mcpServers) {
    const rule = rules.get(name) ?? rules.get('*');
    if (rule && (rule !== 'allow' || others.length === 0)) found[rule].push(`mcp:${name}:*`);
  }
  if (rules.has('*') && rules.get('*') !== 'allow') found[rules.get('*')!].push('*');
  // Of two that both hold the stricter counts: what only one allows is asked about.
  const allow = permissions ? [] : found.allow;
  return {
    allow,
    ask: [...(permissions?.ask ?? []), ...found.ask],
    deny: [...(permissions?.deny ?? []), ...found.deny],
  };
}

const MOST_TURNS = 50;

function agentOf(definition: AgentDefinition): TeamAgent {
  const { name, role, description, instruction, tools, limits, mcpServers, skills = [], traits, config } = definition;
  const { default: model, fallbacks } = config.model;
  return {
    name: plainName(name),
    role,
    description,
    model,
    ...(fallbacks.length > 0 && { fallbacks }),
    tools,
    mcp: mcpServers.map(serverOf),
    memoryShared: false,
    instruction,
    subAgents: [],
    skills: skills.map((one) => one.name),
    ...(limits.maxTurns !== MOST_TURNS && { maxTurns: limits.maxTurns }),
    ...(traits && { traits: withoutSecrets(traits) }),
  };
}

/** What the agent has and the document has not. */
function missing({ team, knowledge = [], mcpServers, config, traits = {} }: AgentDefinition): string[] {
  const hasSecrets = mcpServers.some(({ env, headers }) => isFilled(env) || isFilled(headers));
  return [
    'conversations, memory, files, scheduled tasks, channels and logins: those are in `troupe export`',
    ...(team ? [`its team ${JSON.stringify(team.name)}: the team's own document is that of GET /api/teams`] : []),
    ...(knowledge.length > 0 ? [`its documents: ${knowledge.map(({ name }) => JSON.stringify(name)).join(', ')}`] : []),
    ...(hasSecrets || traits.apis || traits.agents
      ? ['values of headers and variables: give those that are named like ${THIS}']
      : []),
    ...((config.safety.standing ?? []).length > 0 ? ['what was allowed for good while it worked'] : []),
    'limits of tokens, time and cost',
  ];
}

export function agentYaml(definition: AgentDefinition): string {
  const permissions = permissionsOf(definition);
  const team: Team = {
    name: definition.name,
    description: definition.description,
    ...(permissions && { permissions }),
    agents: [agentOf(definition)],
  };
  // A line each, whatever names have in them.
  const notes = missing(definition).map((line) => `# - ${line.replaceAll(/\s+/g, ' ')}`);
  return ['# Not in this document:', ...notes, teamYaml(team)].join('\n');
}
