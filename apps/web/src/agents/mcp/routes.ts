import { web } from '@troupe/contract';
import { CLIENT_SCOPES } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';
import { createAnswer } from './answer.ts';
import type { McpService } from './service.ts';

export function mcpRoutes(server: Server, mcp: McpService): void {
  const answer = createAnswer(mcp);
  serve(server, web.mcp.call, ({ user, request }) => answer('POST', user, request));
  serve(server, web.mcp.stream, ({ user, request }) => answer('GET', user, request));
  serve(server, web.mcp.end, ({ user, request }) => answer('DELETE', user, request));
  serve(server, web.mcp.getMetadata, ({ request }) => ({
    resource: `${request.origin}/mcp`,
    authorization_servers: [request.origin],
    scopes_supported: Object.keys(CLIENT_SCOPES),
    bearer_methods_supported: ['header'],
    resource_name: 'Troupe',
  }));
}
