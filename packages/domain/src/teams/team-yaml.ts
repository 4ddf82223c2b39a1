import { parseDocument, stringify } from 'yaml';
import { repeatedKey } from '../yaml-keys.ts';
import { ragYaml } from './rag.ts';
import { readTeam, type Team, type TeamAgent, type TeamReading } from './team.ts';
import type { Traits } from './traits.ts';

/** Apart from the rest of the package: the library takes 5 MB and is loaded where a document is read or written. */

/**
 * Reads a team's YAML. The error names the place. The library takes seconds for some texts of a few kilobytes: what a
 * user sends is read in a thread with a deadline.
 */
export function readTeamYaml(text: string): TeamReading {
  let raw: unknown;
  try {
    // Its own check of keys compares each with each.
    const document = parseDocument(text, { uniqueKeys: false });
    const [error] = document.errors;
    if (error) throw error;
    const twice = repeatedKey(document);
    if (twice !== undefined) throw new Error(`the key ${twice.slice(0, 100)} stands twice in the same place`);
    raw = document.toJS({ maxAliasCount: 20 });
  } catch (error) {
    return { ok: false, error: `Not valid YAML: ${(error as Error).message.split('\n')[0]}` };
  }
  return readTeam(raw);
}

/** The team's YAML; reading it back gives the same team. */
export function teamYaml({ name, description, about, permissions, knowledge, agents }: Team): string {
  const models = Object.fromEntries(
    agents.flatMap((one) => (isNamed(one) ? [[modelKey(one), modelOf(one, one.traits ?? {})]] : [])),
  );
  return stringify(
    {
      name,
      description,
      ...(about && { metadata: about }),
      ...(Object.keys(models).length > 0 && { models }),
      agents: Object.fromEntries(
        agents.map((one, index) => [one.name, agentOf(one, index === 0 && agents.length > 1)]),
      ),
      ...(permissions && { permissions }),
      ...(knowledge && { rag: ragYaml(knowledge) }),
    },
    { lineWidth: 0 },
  );
}

const modelKey = ({ name }: TeamAgent): string => `model of ${name}`;

/** A model with settings stands among the models of the document. */
const isNamed = ({ traits }: TeamAgent): boolean => traits?.sampling !== undefined || traits?.routing !== undefined;

function modelOf({ model }: TeamAgent, { sampling: { reasoning, ...sampling } = {}, routing }: Traits) {
  const slash = model.indexOf('/');
  const thinking = reasoning?.adaptive ? -1 : (reasoning?.max_tokens ?? reasoning?.effort);
  return {
    provider: model.slice(0, slash),
    model: model.slice(slash + 1),
    ...sampling,
    ...(thinking !== undefined && { thinking_budget: thinking }),
    ...(reasoning?.interleaved && { provider_opts: { interleaved_thinking: true } }),
    ...(routing && { routing }),
  };
}

/** A lead that names nobody would lead all of them. */
function agentOf(one: TeamAgent, leads: boolean) {
  const { traits = {}, maxTurns, fallbacks } = one;
  const first = isNamed(one) ? modelKey(one) : one.model;
  const toolsets = toolsetsOf(one);
  return {
    role: one.role,
    description: one.description,
    model: [first, ...(traits.inTurn ?? []).slice(1)].join(','),
    ...(fallbacks && { fallback: { models: fallbacks } }),
    tools: one.tools,
    ...(toolsets.length > 0 && { toolsets }),
    memory_shared: one.memoryShared,
    ...(leads || one.subAgents.length > 0 ? { sub_agents: one.subAgents } : {}),
    ...(one.handoffs && { handoffs: one.handoffs }),
    ...(one.forceHandoff !== undefined && { force_handoff: one.forceHandoff }),
    ...(one.skills.length > 0 ? { skills: one.skills === 'all' ? true : one.skills } : {}),
    ...(traits.welcome && { welcome_message: traits.welcome }),
    ...(traits.commands && { commands: traits.commands }),
    ...(traits.addDate && { add_date: true }),
    ...(traits.addEnvironment && { add_environment_info: true }),
    ...(traits.promptFiles && { add_prompt_files: traits.promptFiles }),
    ...(traits.readonly && { readonly: true }),
    ...(one.knowledge && { rag: one.knowledge }),
    ...(maxTurns !== undefined && { max_iterations: maxTurns }),
    ...(traits.output && { structured_output: traits.output }),
    instruction: one.instruction,
  };
}

const expressionOf = (glob: string): string => `^${glob.replaceAll('*', '.*')}$`;

function toolsetsOf({ tools, mcp, traits = {} }: TeamAgent) {
  const {
    offered = {},
    hints = {},
    toolModels = {},
    scripts,
    apis = [],
    pickable,
    postEdit,
    agents = [],
    openapi = [],
    deferred = {},
    background,
    toon = {},
  } = traits;
  const about = (name: string) => ({
    ...(offered[name] && { tools: offered[name] }),
    ...(hints[name] !== undefined && { instruction: hints[name] }),
    ...(toolModels[name] !== undefined && { model: toolModels[name] }),
    ...(deferred[name] !== undefined && { defer: deferred[name] }),
    ...(toon[name] && { toon: toon[name].map(expressionOf).join(',') }),
  });
  return [
    ...tools
      .map((type) => ({ type, ...about(type), ...(type === 'filesystem' && postEdit && { post_edit: postEdit }) }))
      .filter((one) => Object.keys(one).length > 1),
    ...(background ? [{ type: 'background_agents', ...about('background_agents') }] : []),
    ...(pickable ? [{ type: 'model_picker', models: pickable, ...about('model_picker') }] : []),
    ...(scripts ? [{ type: 'script', shell: scripts, ...about('script') }] : []),
    ...openapi.map((one) => ({ type: 'openapi', ...one, ...about('openapi') })),
    ...agents.map((agent) => ({ type: 'a2a', ...agent, ...about('a2a') })),
    ...apis.map((api) => ({ type: 'api', api_config: api, ...about('api') })),
    ...mcp.map((server) => ({ ...server, ...about(server.name ?? '') })),
  ];
}
