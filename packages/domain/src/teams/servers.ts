import { z } from 'zod';
import { webAddress } from '../web-address.ts';
import { catalogueServer, type KnownServer } from './catalogue.ts';
import { Unfit, type Notes } from './sift.ts';
import { TEAM_TOOLS } from './templates.ts';
import { deferSchema } from './traits.ts';

/** The MCP servers that a document names. */

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;

/** Toolsets: what is said of their tools would count for a server's, too. */
const RESERVED: ReadonlySet<string> = new Set([
  ...TEAM_TOOLS,
  'script',
  'api',
  'a2a',
  'openapi',
  'model_picker',
  'background_agents',
  'rag',
  'knowledge',
  'deferred',
]);

const remote = z.object({
  url: z.string().max(2000),
  transport_type: z.enum(['streamable', 'streamable-http', 'http', 'sse']).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

const shape = {
  name: z.string().regex(SERVER_NAME, 'a server is named by letters, digits, _ and -, at most 40').optional(),
  command: z.string().min(1).max(500).optional(),
  args: z.array(z.string().max(2000)).max(50).optional(),
  env: z.record(z.string(), z.string()).optional(),
  remote: remote.optional(),
  ref: z.string().min(1).max(200).optional(),
  config: z.record(z.string().max(100), z.unknown()).optional(),
  /** Only these of the server's tools are offered; all when left out. */
  tools: z.array(z.string()).optional(),
  instruction: z.string().max(20_000).optional(),
  model: z.string().trim().min(1).max(200).optional(),
  defer: deferSchema.optional(),
  toon: z.string().max(2000).optional(),
};

export const mcpToolset = z.strictObject({ type: z.literal('mcp'), ...shape });
export const mcpDefinition = z.strictObject({ type: z.literal('mcp').optional(), ...shape });

export type GivenServer = z.output<typeof mcpDefinition>;

export interface McpToolset {
  type: 'mcp';
  name?: string | undefined;
  command?: string | undefined;
  args?: string[] | undefined;
  env?: Record<string, string> | undefined;
  remote?: { url: string; headers?: Record<string, string> | undefined } | undefined;
  tools?: string[] | undefined;
}

const VARIABLE = /\$\{(?:env\.)?([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/;

/** Values stand in the file, or are left out and to be given: a name in their place would be sent as if it were the value. */
export function present(
  given: Record<string, string> | undefined,
  at: string,
  { toGive }: Notes,
): Record<string, string> | undefined {
  if (!given) return undefined;
  const entries = Object.entries(given).filter(([key, value]) => {
    const variable = VARIABLE.exec(value);
    if (!variable) return true;
    const name = variable[1] ?? variable[2] ?? '';
    toGive.push({
      at: `${at}.${key}`,
      says: `the value of ${name} is not in the file, and is left out: give it where the tool is set up`,
    });
    return false;
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

interface Reading {
  at: string;
  mcps: Readonly<Record<string, GivenServer>>;
  notes: Notes;
}

/** What Docker's gateway is told to run, by the names of its catalogue; undefined: something else is meant. */
export function gatewayServers({ command, args = [], ...given }: GivenServer): GivenServer[] | undefined {
  if (command !== 'docker' || args.slice(0, 3).join(' ') !== 'mcp gateway run') return undefined;
  const named = args.slice(3).join(' ');
  const list = /^--servers[= ]([\w.,-]{1,500})$/.exec(named)?.[1];
  const names = list?.split(',').filter(Boolean) ?? [];
  return names.length > 0 && names.length <= 20 ? names.map((one) => ({ ...given, ref: `docker:${one}` })) : undefined;
}

/** The server with what its reference says; undefined: it cannot be had here, which is noted. */
export function serverOf(given: GivenServer, { at, mcps, notes }: Reading): McpToolset | undefined {
  const named = referred(given, { at, mcps, notes });
  if (!named) return undefined;
  if (named.config)
    notes.lost.push({ at: `${at}.config`, says: 'give the server its settings where it is attached to the agent' });
  const { name, command, args, tools, remote: there } = named;
  if ((command === undefined) === (there === undefined))
    throw new Unfit(at, 'an mcp toolset needs either command, remote or ref');
  if (name !== undefined && RESERVED.has(name))
    throw new Unfit(`${at}.name`, `the agent’s own tools are named ${name}`);
  if (command === 'docker') {
    notes.lost.push({ at, says: 'there is no Docker in the sandbox: attach the server by its address' });
    return undefined;
  }
  const env = present(named.env, `${at}.env`, notes);
  const headers = present(there?.headers, `${at}.remote.headers`, notes);
  if (there && !webAddress.safeParse(there.url).success)
    throw new Unfit(`${at}.remote.url`, 'must be an http or https address');
  return {
    type: 'mcp',
    ...(name !== undefined && { name }),
    ...(command !== undefined && { command }),
    ...(args && { args }),
    ...(env && { env }),
    ...(there && { remote: { url: there.url, ...(headers && { headers }) } }),
    ...(tools && { tools }),
  };
}

function referred({ ref, ...given }: GivenServer, { at, mcps, notes }: Reading): GivenServer | undefined {
  if (ref === undefined) return given;
  if (given.command !== undefined || given.remote !== undefined)
    throw new Unfit(`${at}.ref`, 'give a reference, or a command or address');
  if (!ref.startsWith('docker:')) {
    const found = Object.hasOwn(mcps, ref) ? mcps[ref] : undefined;
    if (!found) throw new Unfit(`${at}.ref`, `${ref} is not among mcps`);
    if (found.ref !== undefined && !found.ref.startsWith('docker:'))
      throw new Unfit(`mcps.${ref}.ref`, 'a definition names a server of the catalogue, or none');
    const name = SERVER_NAME.test(ref) ? { name: ref } : {};
    return referred({ ...name, ...found, ...given }, { at, mcps, notes });
  }
  const wanted = ref.slice('docker:'.length);
  const server = catalogueServer(wanted);
  if (!server) {
    notes.lost.push({
      at: `${at}.ref`,
      says: `${wanted} is not known here: attach the server by its address or command`,
    });
    return undefined;
  }
  const needs = [server.needs, server.command === 'uvx' && `let the agent reach where ${server.command} gets it from`];
  const says = needs.filter(Boolean).join(', and ');
  if (says) notes.toGive.push({ at: `${at}.ref`, says: `${wanted}: ${says}` });
  const name = RESERVED.has(wanted) ? `${wanted}-server` : wanted;
  const { config, ...rest } = given;
  const args = [...(server.args ?? []), ...settingsOf(config ?? {}, server, `${at}.config`, notes)];
  return {
    name,
    ...(server.url !== undefined && { remote: { url: server.url } }),
    ...(server.command !== undefined && { command: server.command, args }),
    ...rest,
  };
}

/** The settings of a server of the catalogue as its arguments; what its owner has to do, and what it does not know, is told. */
function settingsOf(config: Record<string, unknown>, { config: known = {} }: KnownServer, at: string, notes: Notes) {
  return Object.entries(config).flatMap(([key, value]) => {
    const rule = Object.hasOwn(known, key) ? known[key] : undefined;
    if (rule && 'arg' in rule && typeof value === 'string' && !value.startsWith('-')) return [`${rule.arg}${value}`];
    if (rule && 'asks' in rule) notes.toGive.push({ at: `${at}.${key}`, says: rule.asks });
    else
      notes.lost.push({ at: `${at}.${key}`, says: 'give the server its settings where it is attached to the agent' });
    return [];
  });
}
