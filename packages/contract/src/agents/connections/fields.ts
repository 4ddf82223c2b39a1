import { z } from 'zod';
import { timestamp } from '../../common.ts';

/** MCP servers whose tools an agent uses: attached, tried, connected and removed by its owner. */

export const MISSING = 'MCP server not found';
const BAD_SERVER_NAME = 'A server is named by letters, digits, - and _';
export const OWNERS_SERVER =
  'This server belongs to all of your agents: change it there, or switch it off for this agent';
export const serverName = z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, BAD_SERVER_NAME);
/** What can be wrong with a server, whoever has it. */
export const SERVER_ERRORS = {
  400: [
    'Give either url or command',
    BAD_SERVER_NAME,
    'The agent’s own tools are named <name>: choose another name',
    'Too many arguments',
    'A program asks nobody for access',
  ],
  502: [
    'Agent backend unavailable',
    'Agent is not running',
    'The server names no page to ask at',
    'The server’s registration or tokens are too large to be kept',
    'The server’s authorization failed: <reason>',
  ],
} as const;
/** What can be wrong with a program that is an npm package. */
export const UPDATE_ERRORS = {
  400: ['This server is no npm package: there is nothing to update'],
  502: ['The program was not updated: <reason>'],
} as const;

const texts = z.record(z.string().max(200), z.string().max(10_000));
export const server = z.object({
  url: z
    .string()
    .max(2000, { abort: true })
    .check(z.url({ protocol: /^https?$/ }))
    .optional()
    .describe('Of a service'),
  headers: texts.optional().describe('Sent to a service; kept sealed, and never shown again'),
  client: z
    .object({ id: z.string().min(1).max(2000), secret: z.string().min(1).max(4000).optional() })
    .optional()
    .describe('Of a service that registers nobody by itself; the secret is kept sealed, and never shown again'),
  command: z.string().min(1).max(1000).optional().describe('Of a program, which runs in the agent’s sandbox'),
  args: z.array(z.string().max(4000)).max(100).optional(),
  env: texts.optional().describe('Of a program; kept sealed, and never shown again'),
  tools: z.array(z.string().max(200)).max(200).optional().describe('The only tools that are offered; all unless said'),
});

/** A program that is an npm package, as it was resolved once. */
const pin = z.object({
  name: z.string(),
  version: z.string(),
  integrity: z.string(),
  packages: z.number().describe('With all that it needs'),
  at: timestamp,
});

export const state = {
  state: z
    .enum(['unused', 'connected', 'failed', 'consent'])
    .describe('`consent`: it asks for access, which its owner gives by connecting it'),
  error: z.string().optional().describe('Why it cannot be used'),
  offered: z.array(z.string()).optional().describe('Tools, as the model knows them'),
  at: timestamp.optional().describe('When it was last tried'),
};

export const shown = z.object({
  name: z.string(),
  url: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()),
  headers: z.array(z.string()).describe('Names alone'),
  clientId: z.string().optional().describe('Of what its owner has registered by hand'),
  env: z.array(z.string()).describe('Names alone'),
  tools: z.array(z.string()).optional(),
  pin: pin.optional().describe('What a program that is an npm package is pinned to'),
});

const inherited = {
  inherited: z.boolean().optional().describe('It belongs to the user, not to this agent'),
  off: z.boolean().optional().describe('The agent does without it'),
};

export const listed = z.object({ servers: z.array(shown.extend({ ...state, ...inherited })), count: z.number() });
export const attached = z.object({ server: shown });
export const updated = z.object({ pin });
export const tested = z.object({ name: z.string(), ...state });
export const asked = z.object({ url: z.string().nullable().describe('Where to agree; null: access is there already') });
