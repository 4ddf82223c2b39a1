import { OTHER_NAMES, ownTools, toolsetOf } from '../own-tools.ts';
import { present, type GivenServer } from './servers.ts';
import type { TeamCollection } from './rag.ts';
import { Unfit, type Notes } from './sift.ts';
import type { GivenAgent, GivenToolset } from './document.ts';
import { TEAM_TOOLS } from './templates.ts';
import { commandsSchema, type A2aAgent, type OpenApi, type Routing, type Sampling, type Traits } from './traits.ts';

/** What a document says of an agent, as the agent has it. */

interface Around {
  at: string;
  notes: Notes;
  plain: (model: string, at: string) => string;
  sampling: Sampling | undefined;
  routing: Routing | undefined;
  inTurn: string[] | undefined;
  servers: readonly { name: string; given: GivenServer }[];
  searched: readonly TeamCollection[];
}

export function traitsOf(given: GivenAgent, around: Around): Traits | undefined {
  const { at, notes, sampling, inTurn, routing } = around;
  const { toolsets = [], welcome_message: welcome, add_prompt_files: promptFiles, structured_output: output } = given;
  const commands = commandsOf(given.commands, `${at}.commands`, notes);
  const offered: Record<string, string[]> = {};
  for (const [index, one] of toolsets.entries())
    for (const [type, tools] of Object.entries(offeredOf(one, `${at}.toolsets.${index}`, notes)))
      offered[type] = [...new Set([...(offered[type] ?? []), ...tools])];
  const traits: Traits = {
    ...(welcome && { welcome }),
    ...(commands && { commands }),
    ...(given.add_date && { addDate: true }),
    ...(given.add_environment_info && { addEnvironment: true }),
    ...(promptFiles && promptFiles.length > 0 && { promptFiles }),
    ...(given.readonly && { readonly: true }),
    ...filled('offered', offered),
    ...filled('hints', {
      ...said(around, toolsets, ({ instruction }) => instruction),
      ...aboutDocuments(around.searched),
    }),
    ...filled(
      'toolModels',
      said(around, toolsets, ({ model }) => model && around.plain(model, `${at}.toolsets`)),
    ),
    ...(routing && {
      routing: routing.map(({ model, examples }) => ({ model: around.plain(model, `${at}.model`), examples })),
    }),
    ...filled('pickable', pickableOf(toolsets, around)),
    ...filled(
      'postEdit',
      toolsets.flatMap((one) => ('post_edit' in one ? (one.post_edit ?? []) : [])),
    ),
    ...(inTurn && { inTurn }),
    ...(sampling && { sampling }),
    ...(output && { output }),
    ...filled('scripts', scriptsOf(toolsets, at, notes)),
    ...apisOf(toolsets, at, notes),
    ...filled('openapi', openApisOf(toolsets, at, notes)),
    ...filled('agents', agentsOf(toolsets, at, notes)),
    ...(toolsets.some(({ type }) => type === 'background_agents') && { background: true }),
    ...filled('deferred', deferredOf(around, toolsets)),
    ...filled('toon', toonOf(around, toolsets)),
  };
  return Object.keys(traits).length > 0 ? traits : undefined;
}

/** What the documents' author says of them, under the name of the toolset that searches them. */
function aboutDocuments(searched: readonly TeamCollection[]): Record<string, string> {
  const lines = searched.flatMap(({ name, instruction }) => (instruction ? [`${name}: ${instruction}`] : []));
  return lines.length > 0 ? { knowledge: lines.join('\n').slice(0, 20_000) } : {};
}

const filled = <K extends keyof Traits>(key: K, value: NonNullable<Traits[K]>): Partial<Pick<Traits, K>> =>
  Object.keys(value).length > 0 ? ({ [key]: value } as Pick<Traits, K>) : {};

/** What is said of each toolset, servers by their names. */
function said(
  { servers }: Around,
  toolsets: readonly GivenToolset[],
  about: (toolset: Pick<GivenServer, 'instruction' | 'model'>) => string | undefined,
): Record<string, string> {
  const own = toolsets.filter(({ type }) => type !== 'mcp').map((given) => ({ name: given.type as string, given }));
  return Object.fromEntries(
    [...own, ...servers].flatMap(({ name, given }) => {
      const text = about(given);
      return text === undefined || text === '' ? [] : [[name, text]];
    }),
  );
}

/** The tools of a toolset that are offered. One that is not here is named, and nothing is offered in its place. */
function offeredOf(given: GivenToolset, at: string, { lost }: Notes): Record<string, string[]> {
  const { type, tools } = given;
  if (tools === undefined || type === 'mcp') return {};
  const own = TEAM_TOOLS.find((one) => one === type);
  if (!own) return { [type]: tools };
  const known = ownTools(own);
  const names = tools.map((one) => (Object.hasOwn(OTHER_NAMES, one) ? (OTHER_NAMES[one] ?? one) : one));
  for (const name of new Set(names.filter((one) => !known.includes(one))))
    lost.push({
      at: `${at}.tools`,
      says: `there is no tool ${name.slice(0, 100)} in ${type}; there are ${known.join(', ')}`,
    });
  return { [type]: [...new Set(names.filter((one) => known.includes(one)))] };
}

const openApisOf = (toolsets: readonly GivenToolset[], at: string, notes: Notes): OpenApi[] =>
  toolsets.flatMap((one, index) => {
    if (one.type !== 'openapi') return [];
    const headers = present(one.headers, `${at}.toolsets.${index}.headers`, notes);
    return [{ url: one.url, ...(headers && { headers }) }];
  });

/** Agents without a name are called by their address. */
function agentsOf(toolsets: readonly GivenToolset[], at: string, notes: Notes): A2aAgent[] {
  const names = new Set<string>();
  return toolsets.flatMap((one, index) => {
    if (one.type !== 'a2a') return [];
    const called = one.name ?? `agent-${new URL(one.url).host.replaceAll(/[^A-Za-z0-9]+/g, '-')}`.slice(0, 50);
    const name = names.has(called) ? `${called.slice(0, 50)}-${index}` : called;
    names.add(name);
    const headers = present(one.headers, `${at}.toolsets.${index}.headers`, notes);
    return [{ name, url: one.url, ...(headers && { headers }) }];
  });
}

function deferredOf({ servers }: Around, toolsets: readonly GivenToolset[]): NonNullable<Traits['deferred']> {
  const own = toolsets.filter(({ type }) => type !== 'mcp').map((given) => ({ name: given.type as string, given }));
  return Object.fromEntries(
    [...own, ...servers].flatMap(({ name, given: { defer } }) => {
      const isNone = defer === undefined || defer === false || (Array.isArray(defer) && defer.length === 0);
      return isNone ? [] : [[name, defer]];
    }),
  );
}

/** Expressions as far as they are names with `.*` in them; what else one says would be worked out for every call. */
function toonOf({ servers, at, notes }: Around, toolsets: readonly GivenToolset[]): NonNullable<Traits['toon']> {
  const own = toolsets.filter(({ type }) => type !== 'mcp').map((given) => ({ name: given.type as string, given }));
  const entries = [...own, ...servers].flatMap(({ name, given: { toon = '' } }): [string, string[]][] => {
    const wanted = toon
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
    const isRead = (one: string): boolean => /^\^?(?:[\w-]|\.\*)+\$?$/.test(one);
    const strange = wanted.find((one) => !isRead(one));
    if (strange !== undefined)
      notes.lost.push({
        at: `${at}.toolsets (${name}).toon`,
        says: `${strange.slice(0, 100)}: only names and .* are read`,
      });
    const patterns = wanted.filter(isRead).map(globOf);
    return patterns.length > 0 ? [[name, patterns]] : [];
  });
  return Object.fromEntries(entries);
}

/** An expression finds its words anywhere, unless it says where. */
function globOf(expression: string): string {
  const [, from = '', words = '', to = ''] = /^(\^?)(.*?)(\$?)$/.exec(expression) ?? [];
  const glob = words.replaceAll('.*', '*');
  return `${from || glob.startsWith('*') ? '' : '*'}${glob}${to || glob.endsWith('*') ? '' : '*'}`;
}

const pickableOf = (toolsets: readonly GivenToolset[], { at, plain }: Around): string[] => [
  ...new Set(
    toolsets.flatMap((one) =>
      one.type === 'model_picker' ? one.models.map((model) => plain(model, `${at}.toolsets`)) : [],
    ),
  ),
];

/** What another program would run before the model reads a command, and what it would put in from its environment. */
const WORKED_OUT = /!`|!\w+\(|\$\{[^}]*\(/;
const VALUE = /\$\{?(?:env\.)?([A-Z_][A-Z0-9_]*)\}?/;

function commandsOf(given: GivenAgent['commands'], at: string, { lost, toGive }: Notes): Traits['commands'] {
  if (given === undefined) return undefined;
  const entries = (Array.isArray(given) ? given : [given]).flatMap((one) => Object.entries(one));
  const commands = Object.fromEntries(
    entries.map(([name, text]) => [name, typeof text === 'string' ? { instruction: text } : text]),
  );
  if (entries.length === 0) return undefined;
  const parsed = commandsSchema.safeParse(commands);
  if (!parsed.success) throw new Unfit(at, parsed.error.issues[0]?.message.trim() ?? 'not readable');
  for (const [name, { instruction }] of Object.entries(parsed.data)) {
    const found = WORKED_OUT.exec(instruction);
    const value = VALUE.exec(instruction)?.[1];
    if (value !== undefined)
      toGive.push({ at: `${at}.${name}`, says: `the value of ${value} is not in the file: write it into the command` });
    if (found)
      lost.push({ at: `${at}.${name}`, says: `${found[0]} is not worked out: the model reads it as it stands` });
  }
  return parsed.data;
}

function scriptsOf(toolsets: readonly GivenToolset[], at: string, notes: Notes): NonNullable<Traits['scripts']> {
  const entries = toolsets.flatMap((one) => (one.type === 'script' ? Object.entries(one.shell) : []));
  for (const [name] of entries)
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name) || toolsetOf(name) !== undefined)
      throw new Unfit(
        `${at}.toolsets`,
        'tools are named by letters, digits, _ and -, at most 64, and unlike the agent’s own',
      );
  return Object.fromEntries(
    entries.map(([name, { env: given, ...script }]) => {
      const env = present(given, `${at}.toolsets.${name}.env`, notes);
      return [name, { ...script, ...(env && { env }) }];
    }),
  );
}

function apisOf(toolsets: readonly GivenToolset[], at: string, notes: Notes): Pick<Traits, 'apis'> {
  const apis = toolsets.flatMap((one) => {
    if (one.type !== 'api') return [];
    const { headers: given, ...api } = one.api_config;
    if (toolsetOf(api.name) !== undefined)
      throw new Unfit(`${at}.toolsets`, `the agent has a tool ${api.name} of its own`);
    const headers = present(given, `${at}.toolsets.${api.name}.headers`, notes);
    return [{ ...api, ...(headers && { headers }) }];
  });
  return apis.length > 0 ? { apis } : {};
}
