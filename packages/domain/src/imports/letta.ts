import { collectionsOf, filesOf, serversOf, toolsOf } from './letta-parts.ts';
import {
  carriedOf,
  createNames,
  ImportError,
  isObject,
  isThere,
  listOf,
  modelNamed,
  objectOf,
  short,
  textOf,
  textsOf,
  type Carried,
  type Given,
} from './parts.ts';

/** An agent file of Letta (.af), also in its older, flat shape. */

export const isLetta = (value: unknown): boolean =>
  isObject(value) && (isFlat(value) || (Array.isArray(value['agents']) && Array.isArray(value['blocks'])));

const isFlat = (value: Given): boolean =>
  Array.isArray(value['core_memory']) && typeof value['agent_type'] === 'string';

/** Blocks are always in sight there: as files that are shown with every call, as many as there are places for. */
const SHOWN = 10;
/** Characters of a memory, below its bytes. */
const MEMORY = 25_000;
const MODEL_KEYS = ['temperature', 'max_tokens', 'frequency_penalty', 'parallel_tool_calls'] as const;

/** The older shape as the newer one. */
function widened(flat: Given): Given {
  const blocks = listOf(flat['core_memory']).map((one, index) => ({ ...objectOf(one), id: `block-${index}` }));
  const tools = listOf(flat['tools']).map((one, index) => ({
    tool_type: 'custom',
    ...objectOf(one),
    id: `tool-${index}`,
  }));
  const agent = { ...flat, id: 'agent-0', block_ids: blocks.map(({ id }) => id), tool_ids: tools.map(({ id }) => id) };
  return { agents: [agent], blocks, tools, groups: [], files: [], sources: [], mcp_servers: [] };
}

export function readLetta(value: unknown): Carried {
  if (!isLetta(value)) throw new ImportError('This is no agent file of Letta');
  const given = isFlat(objectOf(value)) ? widened(objectOf(value)) : objectOf(value);
  const carried = carriedOf('letta');
  const agents = listOf(given['agents']).map(objectOf);
  if (agents.length === 0) throw new ImportError('There is no agent in it');
  const nameOf = createNames();
  const names = new Map(agents.map((one, index) => [idOf(one, index), nameOf(textOf(one['name']) || 'agent')]));
  const below = groupsOf(given, names, carried);
  const led = new Set([...below.values()].flat());
  const order = agents.map((one, index) => ({ one, id: idOf(one, index) }));
  order.sort((a, b) => Number(led.has(names.get(a.id) ?? '')) - Number(led.has(names.get(b.id) ?? '')));
  const documents = filesOf(given, carried);
  const sources = objectOf(documents['rag']);
  const asks: string[] = [];
  const models: Given = {};
  const made = order.map(({ one, id }) => {
    const name = names.get(id) ?? '';
    return [
      name,
      { ...agentOf(one, name, { given, carried, asks, models, sources }), sub_agents: below.get(name) ?? [] },
    ];
  });
  skillsOf(given, [...names.values()], carried);
  carried.document = {
    name: short(textOf(agents[0]?.['name']) || 'Letta'),
    agents: Object.fromEntries(made) as Given,
    ...(Object.keys(models).length > 0 && { models }),
    ...(asks.length > 0 && { permissions: { ask: [...new Set(asks)] } }),
    ...documents,
  };
  return carried;
}

const idOf = (one: Given, index: number): string => textOf(one['id']) || `agent-${index}`;

/** Whom a manager leads. Groups of another kind are named. */
function groupsOf(given: Given, names: ReadonlyMap<string, string>, { notCarried }: Carried): Map<string, string[]> {
  const below = new Map<string, string[]>();
  for (const [index, value] of listOf(given['groups']).entries()) {
    const group = objectOf(value);
    const { manager_type: kind, manager_agent_id: leader } = objectOf(group['manager_config']);
    const lead = names.get(textOf(leader));
    const members = textsOf(group['agent_ids']).flatMap((id) => names.get(id) ?? []);
    const isLed = (kind === 'supervisor' || kind === 'dynamic') && lead !== undefined;
    if (isLed)
      below.set(
        lead,
        [...new Set([...(below.get(lead) ?? []), ...members])].filter((one) => one !== lead),
      );
    else
      notCarried.push({
        at: `groups.${index}`,
        says: `agents do not work together as ${short(textOf(kind) || 'this', 40)} here`,
      });
  }
  return below;
}

interface Around {
  given: Given;
  carried: Carried;
  asks: string[];
  models: Given;
  sources: Given;
}

/** Of an agent: read here, or without meaning where nothing is set. */
const READ = new Set(
  'id name system description agent_type llm_config embedding_config model embedding block_ids tool_ids tools memory_blocks messages in_context_message_ids source_ids folder_ids files_agents group_ids tool_rules tags secrets tool_exec_environment_variables core_memory include_base_tools include_multi_agent_tools include_base_tool_rules include_default_source timezone max_files_open per_file_view_window_char_limit created_at updated_at version metadata metadata_ message_buffer_autoclear enable_sleeptime multi_agent_group hidden template from_template project project_id identity_ids'.split(
    ' ',
  ),
);

function agentOf(one: Given, name: string, { given, carried, asks, models, sources }: Around) {
  const at = `agents.${name}`;
  const model = modelOf(one, name, { carried, models });
  const { shown, fixed } = blocksOf(one, name, given, carried);
  const { toolsets, ask } = toolsOf(one, name, given, carried);
  asks.push(...ask);
  const messages = listOf(one['messages']).length;
  if (messages > 0)
    carried.notCarried.push({ at: `${at}.messages`, says: `${messages} messages of old conversations` });
  const secrets = { ...objectOf(one['tool_exec_environment_variables']), ...objectOf(one['secrets']) };
  const named = [
    ...Object.keys(secrets),
    ...listOf(one['tool_exec_environment_variables']).map((v) => textOf(objectOf(v)['key'])),
  ];
  for (const key of named.filter(Boolean))
    carried.toGive.push({
      at: `${at}.secrets.${short(key, 60)}`,
      says: 'secrets are not copied: give the value to the tool that needs it',
    });
  for (const [key, value] of Object.entries(one))
    if (!READ.has(key) && isThere(value))
      carried.notCarried.push({ at: `${at}.${short(key, 60)}`, says: 'it is a setting of Letta’s own server' });
  return {
    role: short(textOf(one['name']) || name),
    description: textOf(one['description']).slice(0, 2000),
    ...(model && { model }),
    instruction: [textOf(one['system']), ...fixed].filter(Boolean).join('\n\n'),
    memory_shared: false,
    ...(shown.length > 0 && { add_prompt_files: shown }),
    toolsets: [...toolsets, ...serversOf(one, given, carried)],
    rag: collectionsOf(one, given).filter((source) => Object.hasOwn(sources, source)),
  };
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  google_ai: 'google',
  google_vertex: 'google',
  bedrock: 'amazon-bedrock',
};

function modelOf(
  one: Given,
  name: string,
  { carried, models }: Pick<Around, 'carried' | 'models'>,
): string | undefined {
  const config = objectOf(one['llm_config']);
  const by = textOf(config['model_endpoint_type']);
  const model = modelNamed(textOf(one['model']) || textOf(config['model']), ENDPOINTS[by] ?? by);
  if (model === undefined) {
    carried.notCarried.push({ at: `agents.${name}.llm_config`, says: 'it names no model: choose one at the agent' });
    return undefined;
  }
  const settings = Object.fromEntries(MODEL_KEYS.flatMap((key) => (isThere(config[key]) ? [[key, config[key]]] : [])));
  const tokens = config['max_reasoning_tokens'];
  const thinks = config['enable_reasoner'] === true && typeof tokens === 'number' && tokens > 0;
  if (Object.keys(settings).length === 0 && !thinks) return model;
  const slash = model.indexOf('/');
  const key = `model of ${name}`;
  models[key] = {
    provider: model.slice(0, slash),
    model: model.slice(slash + 1),
    ...settings,
    ...(thinks && { thinking_budget: tokens }),
  };
  return key;
}

const fileName = (label: string): string =>
  `memory/${
    label
      .replaceAll(/[^A-Za-z0-9_/-]+/g, '-')
      .replaceAll(/\.\.|\/+/g, '-')
      .slice(0, 60) || 'block'
  }.md`;

function blocksOf(one: Given, name: string, given: Given, { workspace, memories, notCarried }: Carried) {
  const ids = textsOf(one['block_ids']);
  const blocks = listOf(given['blocks'])
    .map(objectOf)
    .filter((block) => ids.includes(textOf(block['id'])));
  const all = [...blocks, ...listOf(one['memory_blocks']).map(objectOf)];
  // Who it is and whom it talks to come first: there may be more than are shown.
  const isFirst = ({ label }: Given): number => Number(/persona|human/i.test(textOf(label)));
  all.sort((a, b) => isFirst(b) - isFirst(a));
  const shared = (id: string): boolean =>
    listOf(given['agents']).filter((other) => textsOf(objectOf(other)['block_ids']).includes(id)).length > 1;
  const shown: string[] = [];
  const fixed: string[] = [];
  for (const block of all) {
    const [label, value] = [textOf(block['label']) || 'block', textOf(block['value'])];
    const at = `blocks.${short(label, 60)}`;
    if (shared(textOf(block['id'])))
      notCarried.push({ at, says: `several agents share it: ${name} has a copy of its own` });
    if (block['read_only'] === true) fixed.push(`<${label}>\n${value}\n</${label}>`);
    else if (shown.length < SHOWN && !shown.includes(fileName(label))) {
      workspace.push({ agent: name, path: fileName(label), content: new TextEncoder().encode(value) });
      shown.push(fileName(label));
    } else if (value.length > MEMORY) {
      workspace.push({
        agent: name,
        path: `memory/more/${shown.length + workspace.length}.md`,
        content: new TextEncoder().encode(value),
      });
      notCarried.push({ at, says: 'it is a file of the workspace that is not shown with every call' });
    } else if (value !== '') {
      memories.push({ agent: name, key: label.slice(0, 500), content: value });
      notCarried.push({ at, says: 'it is a memory that is found, not one that is always shown' });
    }
  }
  return { shown, fixed };
}

function skillsOf(given: Given, agents: string[], { skills }: Carried): void {
  for (const value of listOf(given['skills'])) {
    const { name, files } = objectOf(value);
    const own = Object.entries(objectOf(files)).flatMap(([path, text]) =>
      typeof text === 'string' ? [{ path, content: new TextEncoder().encode(text) }] : [],
    );
    skills.push({ name: short(textOf(name), 64), agents, files: own });
  }
}
