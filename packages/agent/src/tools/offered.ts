import { onlyLooks, type AgentDefinition } from '@troupe/domain';
import type { Tool } from './tool.ts';

/** Those of an agent's tools that its definition lets it see. A tool that is left out does not exist for the model. */
export function offered({ traits }: AgentDefinition, tools: readonly Tool[]): readonly Tool[] {
  if (!traits?.offered && !traits?.readonly) return tools;
  const lists = new Map(Object.entries(traits.offered ?? {}));
  return tools.filter((tool) => {
    // The list of an MCP server is kept with the server.
    if (lists.get(tool.toolset)?.includes(tool.name) === false) return false;
    return !traits.readonly || changesNothing(tool);
  });
}

/** A server that says its tool only reads is believed, as it is when a call is repeated. */
const changesNothing = ({ name, offeredAs, repeatable }: Tool): boolean =>
  offeredAs === undefined ? onlyLooks(name) : repeatable;
