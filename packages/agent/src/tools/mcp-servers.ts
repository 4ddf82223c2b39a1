import type { McpServer } from '@troupe/domain';
import type { McpPool } from './mcp.ts';
import type { McpOAuth } from './mcp-oauth.ts';
import type { Programs } from './mcp-programs.ts';
import type { Inherited } from './mcp-shared.ts';

/** What an owner does with an agent's MCP servers. */
export interface McpServers extends Pick<McpPool, 'states' | 'test' | 'forget'> {
  oauth: McpOAuth | undefined;
  /** The owner's, which this agent has. */
  inherited: Inherited;
  /** What programs that are npm packages are pinned to; left out: there are none here. */
  programs: Programs | undefined;
  /** As it is kept. */
  sealed: (server: McpServer) => McpServer;
}
