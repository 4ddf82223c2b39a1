import type { McpServer } from '@troupe/domain';
import type { McpPool } from './mcp.ts';
import type { McpOAuth } from './mcp-oauth.ts';

/** What an owner does with an agent's MCP servers. */
export interface McpServers extends Pick<McpPool, 'states' | 'test' | 'forget'> {
  oauth: McpOAuth | undefined;
  /** As it is kept. */
  sealed: (server: McpServer) => McpServer;
}
