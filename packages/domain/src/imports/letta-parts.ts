import { isThere, listOf, objectOf, short, textOf, textsOf, type Carried, type Given } from './parts.ts';

/** Tools, servers and files of a Letta agent file. */

/** What Letta's own tools are here. */
const OWN: Readonly<Record<string, string>> = {
  web_search: 'fetch',
  fetch_webpage: 'fetch',
  run_code: 'shell',
  archival_memory_insert: 'memory',
  archival_memory_search: 'memory',
};
const OWN_TYPES = /^letta_/;
const OUTSIDE = 'external_mcp';

const toolsUsed = (one: Given, given: Given): Given[] => {
  const ids = new Set(textsOf(one['tool_ids']));
  return listOf(given['tools'])
    .map(objectOf)
    .filter((tool) => ids.has(textOf(tool['id'])));
};

/** Blocks are files here, so an agent that has them reads and writes files. */
export function toolsOf(one: Given, name: string, given: Given, { notCarried }: Carried) {
  const types = new Set<string>(['filesystem', 'memory']);
  const at = `agents.${name}.tools`;
  const asking = new Set(
    listOf(one['tool_rules'])
      .map(objectOf)
      .filter(({ type }) => type === 'requires_approval')
      .map(({ tool_name: tool }) => textOf(tool)),
  );
  const ask: string[] = [];
  for (const tool of toolsUsed(one, given)) {
    const [called, kind] = [textOf(tool['name']), textOf(tool['tool_type'])];
    const own = Object.hasOwn(OWN, called) ? OWN[called] : undefined;
    const isAsked = asking.has(called) || tool['default_requires_approval'] === true;
    if (own) types.add(own);
    if (own && isAsked) ask.push(own);
    if (kind === OUTSIDE && isAsked) ask.push(called);
    if (!own && !OWN_TYPES.test(kind) && kind !== OUTSIDE)
      notCarried.push({
        at,
        says: `${short(called, 60)} is a program for Letta’s server: write it as a script, or attach a server that has it`,
      });
  }
  const rules = listOf(one['tool_rules'])
    .map(objectOf)
    .filter(({ type }) => type !== 'requires_approval' && type !== 'continue_loop');
  if (rules.length > 0)
    notCarried.push({
      at: `agents.${name}.tool_rules`,
      says: `${rules.length} rules about the order of calls: write them into the instruction`,
    });
  return { toolsets: [...types].map((type) => ({ type })), ask };
}

/** Servers whose tools the agent had, with these alone. */
export function serversOf(one: Given, given: Given, { toGive, notCarried }: Carried) {
  const wanted = toolsUsed(one, given).filter((tool) => tool['tool_type'] === OUTSIDE);
  return listOf(given['mcp_servers']).flatMap((value): Given[] => {
    const server = objectOf(value);
    const called = textOf(server['server_name']) || textOf(server['name']);
    const tools = wanted.filter((tool) => serverOf(tool) === called).map((tool) => textOf(tool['name']));
    const at = `mcp_servers.${short(called, 60)}`;
    if (tools.length === 0) return [];
    const { command, args, env } = { ...objectOf(server['stdio_config']), ...server } as Given;
    for (const key of ['token', 'custom_headers', 'auth_token'])
      if (isThere(server[key]))
        toGive.push({
          at: `${at}.${key}`,
          says: 'secrets are not copied: give it where the server is attached to the agent',
        });
    for (const key of Object.keys(objectOf(env)))
      toGive.push({
        at: `${at}.env.${short(key, 60)}`,
        says: 'give the value where the server is attached to the agent',
      });
    const name = `${
      called
        .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
        .replace(/^[-_]+/, '')
        .slice(0, 32) || 'server'
    }-mcp`;
    const url = textOf(server['server_url']);
    if (url !== '') return [{ type: 'mcp', name, remote: { url }, tools }];
    if (textOf(command) !== '') return [{ type: 'mcp', name, command: textOf(command), args: textsOf(args), tools }];
    notCarried.push({ at, says: 'it has neither an address nor a command' });
    return [];
  });
}

/** Tools of a server carry its name as a mark, or among what is said of them. */
function serverOf(tool: Given): string {
  const tag = textsOf(tool['tags']).find((one) => one.startsWith('mcp:'));
  return tag ? tag.slice(4) : textOf(objectOf(objectOf(tool['metadata_'])['mcp'])['server_name']);
}

/** Files of each source as a collection, which the agents of that source search. */
export function filesOf(given: Given, carried: Carried): Given {
  const sources = listOf(given['sources']).map(objectOf);
  const rag: Given = {};
  for (const source of sources) {
    const id = textOf(source['id']);
    const name = short(textOf(source['name']) || id, 80);
    const own = listOf(given['files'])
      .map(objectOf)
      .filter((file) => textOf(file['source_id']) === id);
    for (const file of own) {
      const called = textOf(file['original_file_name']) || textOf(file['file_name']).split('/').at(-1) || 'file';
      const path = `${id}/${called.replaceAll(/[\\/\p{C}]/gu, '-')}`;
      const text = textOf(file['content']);
      if (text === '') carried.notCarried.push({ at: `files.${short(called)}`, says: 'its text is not in the file' });
      // What Letta kept of it is text, whatever it was.
      else
        carried.files.push({
          path: /\.(?:md|txt|csv|html?)$/i.test(path) ? path : `${path}.txt`,
          content: new TextEncoder().encode(text),
        });
    }
    if (own.some((file) => textOf(file['content']) !== ''))
      rag[name] = { tool: { description: textOf(source['description']).slice(0, 500) }, docs: [id] };
  }
  return Object.keys(rag).length > 0 ? { rag } : {};
}

/** The collections of an agent. */
export const collectionsOf = (one: Given, given: Given): string[] =>
  listOf(given['sources'])
    .map(objectOf)
    .filter((source) => textsOf(one['source_ids']).includes(textOf(source['id'])))
    .map((source) => short(textOf(source['name']) || textOf(source['id']), 80));
