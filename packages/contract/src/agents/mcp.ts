import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** The platform as an MCP server: JSON-RPC over HTTP in both revisions of the protocol, so its bodies are the protocol's. */
const mcp = {
  service: 'web',
  tag: 'MCP',
  auth: 'client',
  path: '/mcp',
  rawBody: true,
  pages: true,
  errors: {
    400: [
      'A body has <n> messages at most',
      'A body has <n> values at most',
      'JSON must not have more than <n> characters outside of its texts here',
    ],
    401: ['Unauthorized'],
    403: ['This needs the scope <scope>'],
    429: ['Too many calls at once (max <n>)'],
  },
} as const;

export const call = endpoint({
  ...mcp,
  method: 'POST',
  summary: 'MCP server of the platform: one JSON-RPC message, for an API key or an access token',
  produces: 'text/event-stream',
});
export const stream = endpoint({
  ...mcp,
  method: 'GET',
  summary: 'Older MCP clients look for a stream of news here: there is none',
});
export const end = endpoint({
  ...mcp,
  method: 'DELETE',
  summary: 'Older MCP clients end their session here: there are none',
});

/** Where a client finds out who gives tokens for a resource (RFC 9728). */
export const getMetadata = endpoint({
  service: 'web',
  tag: 'MCP',
  auth: 'none',
  method: 'GET',
  path: '/.well-known/oauth-protected-resource/mcp',
  summary: 'Who gives access tokens for /mcp, and for what',
  pages: true,
  reply: z.object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    resource_name: z.string(),
  }),
});
