import { z } from 'zod';
import { timestamp } from '../../common.ts';

/** MCP servers whose tools an agent uses: attached, tried, connected and removed by its owner. */

export const MISSING = 'MCP server not found';

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

const state = {
  state: z
    .enum(['unused', 'connected', 'failed', 'consent'])
    .describe('`consent`: it asks for access, which its owner gives by connecting it'),
  error: z.string().optional().describe('Why it cannot be used'),
  offered: z.array(z.string()).optional().describe('Tools, as the model knows them'),
  at: timestamp.optional().describe('When it was last tried'),
};

const shown = z.object({
  name: z.string(),
  url: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()),
  headers: z.array(z.string()).describe('Names alone'),
  clientId: z.string().optional().describe('Of what its owner has registered by hand'),
  env: z.array(z.string()).describe('Names alone'),
  tools: z.array(z.string()).optional(),
});

export const listed = z.object({ servers: z.array(shown.extend(state)), count: z.number() });
export const attached = z.object({ server: shown });
export const tested = z.object({ name: z.string(), ...state });
export const asked = z.object({ url: z.string().nullable().describe('Where to agree; null: access is there already') });
