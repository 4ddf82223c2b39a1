import type { Log, Outbound } from '@troupe/kernel';
import type { AgentDefinition, ToolsetName } from './definition.ts';
import type { EgressOptions } from './egress-proxy.ts';
import { createMcpPool } from './mcp.ts';
import type { Sandbox } from './sandbox.ts';
import type { AgentStore } from './store.ts';
import type { Tool } from './tool.ts';
import { fetchTools } from './tools/fetch.ts';
import { filesystemTools } from './tools/filesystem.ts';
import { memoryTools } from './tools/memory.ts';
import { shellTools } from './tools/shell.ts';
import { thinkTools } from './tools/think.ts';
import { todoTools } from './tools/todo.ts';
import { transferTaskTools, type Peers } from './tools/transfer-task.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

/** The tools of one agent, as its definition says, made when they are first needed. */

export interface ToolkitDeps {
  store: AgentStore;
  /** The agent's folder; made when a tool needs it. */
  workspaceRoot: string;
  quotaBytes?: number;
  sandbox: Sandbox;
  outbound: Outbound;
  log: Log;
  egress?: Omit<EgressOptions, 'allowedDomains'>;
  peers?: Peers;
}

export interface Toolkit {
  tools: (definition: AgentDefinition) => Promise<readonly Tool[]>;
  close: () => Promise<void>;
}

export function createToolkit(deps: ToolkitDeps): Toolkit {
  const { store, sandbox, outbound, peers } = deps;
  const mcp = createMcpPool({ ...deps, workspace: () => workspace() });
  let made: Promise<Workspace> | undefined;
  const workspace = (): Promise<Workspace> => (made ??= makeWorkspace(deps.workspaceRoot, deps.quotaBytes));

  const toolsets: Record<ToolsetName, () => Promise<Tool[]> | Tool[]> = {
    filesystem: async () => filesystemTools(await workspace()),
    shell: async () => shellTools(await workspace(), sandbox, deps.egress),
    think: thinkTools,
    todo: () => todoTools(store),
    memory: () => memoryTools(store),
    fetch: () => fetchTools(outbound),
  };
  const cache = new Map<ToolsetName, Promise<Tool[]>>();
  const toolset = (name: ToolsetName): Promise<Tool[]> => {
    const found = cache.get(name) ?? Promise.resolve(toolsets[name]());
    cache.set(name, found);
    return found;
  };

  return {
    async tools(definition) {
      const own = await Promise.all(definition.tools.map(toolset));
      const team = peers ? transferTaskTools(definition.team?.members ?? [], peers) : [];
      const further = definition.mcpServers.length > 0 ? await mcp.tools(definition.mcpServers) : [];
      return [...own.flat(), ...team, ...further];
    },
    close: mcp.close,
  };
}
