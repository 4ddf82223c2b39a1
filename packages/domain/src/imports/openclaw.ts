import { parseJson5 } from './json5.ts';
import { cronTasks } from './openclaw-cron.ts';
import { toolsOf } from './openclaw-tools.ts';
import {
  carriedOf,
  createNames,
  decoded,
  isThere,
  listOf,
  modelNamed,
  objectOf,
  short,
  skillsIn,
  textOf,
  textsOf,
  type BundleFile,
  type Carried,
  type Given,
} from './parts.ts';

/** A workspace of OpenClaw, or its whole folder: `openclaw.json` and the workspaces of its agents. */

const CONFIG = 'openclaw.json';
/** Shown to the model with every call, as they are there. */
const SHOWN = ['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md', 'TOOLS.md', 'MEMORY.md'] as const;
const KEPT = /^(?:HEARTBEAT\.md|BOOTSTRAP\.md|memory\/.+\.md)$/;
/** Of the configuration, read below. */
const READ = new Set(['agents', 'mcp', 'models', 'channels', 'cron', 'tools', 'meta', '$schema']);

export const isOpenclaw = (paths: ReadonlySet<string>): boolean =>
  paths.has(CONFIG) || (paths.has('AGENTS.md') && ['SOUL.md', 'IDENTITY.md', 'USER.md'].some((one) => paths.has(one)));

interface Entry {
  id: string;
  given: Given;
}

function entriesOf({ list, entries }: Given): Entry[] {
  const named = Object.entries(objectOf(entries)).map(([id, given]) => ({ id, given: objectOf(given) }));
  const listed = listOf(list).map((one, index) => {
    const given = objectOf(one);
    return { id: textOf(given['id']) || `agent-${index + 1}`, given };
  });
  const all = [...listed, ...named];
  return all.length > 0 ? all : [{ id: 'main', given: {} }];
}

/** The folder of an agent's workspace within the files: by its name, else the one that there is. */
function folderOf(
  { id, given }: Entry,
  defaults: Given,
  paths: readonly string[],
  isOnly: boolean,
): string | undefined {
  const wanted = textOf(given['workspace']).split('/').findLast(Boolean);
  const shared = textOf(defaults['workspace']).split('/').findLast(Boolean);
  const choices = [
    wanted,
    `workspace-${id}`,
    `workspace/${id}`,
    ...(isOnly || id === 'main' ? [shared, 'workspace', ''] : []),
  ];
  return choices.find(
    (one) => one !== undefined && SHOWN.some((name) => paths.includes(one === '' ? name : `${one}/${name}`)),
  );
}

export function readOpenclaw(files: readonly BundleFile[]): Carried {
  const carried = carriedOf('openclaw');
  const file = files.find(({ path }) => path === CONFIG);
  const config = file ? objectOf(parseJson5(decoded(file), CONFIG)) : {};
  if (file) carried.used.add(CONFIG);
  const { defaults: common, ...agents } = objectOf(config['agents']);
  const defaults = objectOf(common);
  const entries = entriesOf(agents);
  const nameOf = createNames();
  const names = new Map(entries.map((entry) => [entry.id, nameOf(entry.id === 'main' ? 'main' : entry.id)]));
  const paths = files.map(({ path }) => path);
  const made = entries.map((entry) => {
    const name = names.get(entry.id) ?? entry.id;
    const folder = folderOf(entry, defaults, paths, entries.length === 1);
    return [name, agentOf(entry, name, { defaults, config, folder, files, carried, names })] as const;
  });
  const asks = made.flatMap(([, { ask }]) => ask);
  carried.document = {
    name: 'OpenClaw',
    agents: Object.fromEntries(made.map(([name, { agent }]) => [name, agent])),
    ...(asks.length > 0 && { permissions: { ask: [...new Set(asks)] } }),
  };
  for (const folder of ['skills', '.agents/skills']) carried.skills.push(...skillsIn(files, folder, carried.used));
  cronTasks(config['cron'], files, names, carried);
  leftOf(config, carried);
  return carried;
}

interface Around {
  defaults: Given;
  config: Given;
  folder: string | undefined;
  files: readonly BundleFile[];
  carried: Carried;
  names: ReadonlyMap<string, string>;
}

function agentOf({ id, given }: Entry, name: string, { defaults, config, folder, files, carried, names }: Around) {
  const at = `agents.${short(id, 60)}`;
  const prefix = folder === undefined ? undefined : folder === '' ? '' : `${folder}/`;
  const shown: string[] = [];
  for (const file of prefix === undefined ? [] : files) {
    if (!file.path.startsWith(prefix ?? '')) continue;
    const path = file.path.slice((prefix ?? '').length);
    const isShown = SHOWN.some((one) => one === path);
    if (!isShown && !KEPT.test(path)) continue;
    carried.workspace.push({ agent: name, path, content: file.content });
    carried.used.add(file.path);
    if (isShown) shown.push(path);
    if (path === 'HEARTBEAT.md' && decoded(file).trim() !== '')
      carried.toGive.push({
        at: file.path,
        says: 'switch the heartbeat on at the agent: the file is in its workspace',
      });
  }
  if (prefix)
    carried.skills.push(...skillsIn(files, `${prefix}skills`, carried.used).map((one) => ({ ...one, agents: [name] })));
  const { toolsets, ask } = toolsOf([config['tools'], given['tools']].map(objectOf), at, carried.notCarried);
  const { model, fallbacks } = modelOf(given['model'] ?? defaults['model']);
  const others = textsOf(objectOf(given['subagents'])['allowAgents']);
  const identity = objectOf(given['identity']);
  const servers = serversOf(objectOf(objectOf(config['mcp'])['servers']), carried);
  return {
    ask,
    agent: {
      role: short(textOf(given['name']) || textOf(identity['name']) || name),
      ...(model && { model }),
      ...(fallbacks.length > 0 && { fallback: { models: fallbacks } }),
      instruction: textOf(identity['theme']),
      sub_agents: others.flatMap((one) => names.get(one) ?? []).filter((one) => one !== name),
      add_date: true,
      ...(shown.length > 0 && { add_prompt_files: SHOWN.filter((one) => shown.includes(one)) }),
      toolsets: [...toolsets, ...servers],
    },
  };
}

function modelOf(given: unknown): { model: string | undefined; fallbacks: string[] } {
  if (typeof given === 'string') return { model: modelNamed(given), fallbacks: [] };
  const { primary, fallbacks } = objectOf(given);
  return {
    model: modelNamed(textOf(primary)),
    fallbacks: textsOf(fallbacks)
      .flatMap((one) => modelNamed(one) ?? [])
      .slice(0, 10),
  };
}

/** Secrets stay where they are: values of the environment and of headers are named, never copied. */
function serversOf(servers: Given, { toGive, notCarried }: Carried): Given[] {
  return Object.entries(servers).flatMap(([name, value]): Given[] => {
    const { command, args, url, env, headers } = objectOf(value);
    const at = `mcp.servers.${short(name, 60)}`;
    const tell = (key: string, given: unknown): void => {
      for (const one of Object.keys(objectOf(given))) {
        const note = {
          at: `${at}.${key}.${short(one, 60)}`,
          says: 'give the value where the server is attached to the agent',
        };
        if (!toGive.some((told) => told.at === note.at)) toGive.push(note);
      }
    };
    tell('env', env);
    tell('headers', headers);
    const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 36);
    const called = { type: 'mcp', name: /^[A-Za-z0-9]/.test(plain) ? `${plain}-mcp` : `mcp-${plain}` };
    if (textOf(url) !== '') return [{ ...called, remote: { url: textOf(url) } }];
    if (textOf(command) !== '') return [{ ...called, command: textOf(command), args: textsOf(args) }];
    notCarried.push({ at, says: 'it has neither an address nor a command' });
    return [];
  });
}

function leftOf(config: Given, { notCarried, toGive }: Carried): void {
  for (const name of Object.keys(objectOf(config['channels'])))
    toGive.push({ at: `channels.${short(name, 60)}`, says: 'connect the channel at the agent: tokens are not copied' });
  for (const name of Object.keys(objectOf(objectOf(config['models'])['providers'])))
    toGive.push({
      at: `models.providers.${short(name, 60)}`,
      says: 'an administrator makes the provider: keys are not copied',
    });
  for (const [key, value] of Object.entries(config))
    if (!READ.has(key) && isThere(value))
      notCarried.push({ at: short(key, 60), says: 'it is a setting of OpenClaw’s own program' });
}
