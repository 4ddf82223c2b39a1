import type { BlobFence } from '@troupe/db';
import type { Log, Outbound, WorkerPool } from '@troupe/kernel';
import type { AgentDefinition, ToolsetName } from '@troupe/domain';
import type { EgressOptions } from '../sandbox/egress-proxy.ts';
import { createMcpPool } from './mcp.ts';
import type { McpServers } from './mcp-servers.ts';
import { createMcpOAuth, type CredentialStore } from './mcp-oauth.ts';
import { createPrograms, type PinStore } from './mcp-programs.ts';
import type { ProgramShelf } from '../programs/shelf.ts';
import { sealServer, type Vault } from './mcp-secrets.ts';
import { createInherited, type OwnersServers } from './mcp-shared.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { MemoryStore } from '../store/memory.ts';
import type { LogStore } from '../store/records.ts';
import type { TodoStore } from '../store/todos.ts';
import type { RunFiles, Tool, ToolResult } from './tool.ts';
import { fetchTools } from './fetch.ts';
import { filesystemTools } from './filesystem.ts';
import { handoffTools } from './handoff.ts';
import { memoryTools } from './memory.ts';
import { backgroundTools } from './background-agents.ts';
import { backgroundJobTools } from './background-jobs.ts';
import { browserTools, type LoginSource } from './browser.ts';
import { codeTools } from './code.ts';
import { commandRunner, shellTools } from './shell.ts';
import { thinkTools } from './think.ts';
import { todoTools } from './todo.ts';
import { transferTaskTools, type Peers } from './transfer-task.ts';
import type { Copy } from '../workspace/copy.ts';
import { CopyLost, Superseded } from '../workspace/copy-store.ts';
import { keptWorkspace } from '../workspace/kept-workspace.ts';
import { WorkspaceError } from '../workspace/workspace-files.ts';
import { createWorkspace, makeWorkspace, type Workspace, type WorkspaceOptions } from '../workspace/workspace.ts';
import type { KnowledgeSource } from '../store/knowledge.ts';
import type { StoreSource } from '../store/memory-stores.ts';
import type { Meant } from '../store/recall.ts';
import { knowledgeTools } from './knowledge.ts';
import { memoryStoreTools } from './memory-stores.ts';
import { skillTools } from './skills.ts';
import { withSearch } from './deferred.ts';
import { offered } from './offered.ts';
import { shortened } from './toon.ts';
import { userPromptTools } from './user-prompt.ts';
import { createWritten } from './written.ts';
import type { Shelf, SkillSource } from '../skills/shelf.ts';

/** The tools of one agent, as its definition says, made when they are first needed. */

export interface ToolkitDeps {
  store: MemoryStore & TodoStore & Pick<LogStore, 'log'>;
  /** The agent's folder; made when a tool needs it. */
  workspaceRoot: string;
  quotaBytes?: number;
  /** Files last beyond the death of this machine, if their disk does. */
  lasting?: boolean;
  /** Where what models and servers make us compute is computed. */
  pool: WorkerPool;
  /** Whose agent it is: users share the pool fairly. */
  owner: string;
  sandbox: Sandbox;
  outbound: Outbound;
  log: Log;
  egress?: Omit<EgressOptions, 'allowedDomains'>;
  peers?: Peers;
  /** Where the workspace is only a copy of what is kept elsewhere. */
  copy?: Copy;
  /** Where the texts of its skills come from; left out: it can have none. */
  skills?: { shelf: Shelf; source: SkillSource };
  /** Where its owner's documents are searched; left out: it can have none. */
  knowledge?: KnowledgeSource;
  /** Texts that sessions were given; left out: they can have none. */
  stores?: StoreSource | undefined;
  /** How questions about memories become numbers; left out: they are searched by words. */
  meaning?: Meant | undefined;
  /** What its owner has sealed for it to sign in with; left out: it can have none. */
  logins?: LoginSource;
  /** What secrets of MCP servers are sealed with; left out: they lie as they are. */
  vault?: Vault;
  /** Where access to MCP servers is kept; left out: it cannot be asked for. */
  credentials?: CredentialStore;
  /** MCP servers of its owner's that it has; left out: it has its own alone. */
  owners?: OwnersServers;
  /** Where programs that are npm packages are installed, and what they are pinned to; left out: they cannot be had. */
  programs?: { shelf: ProgramShelf; pins: PinStore };
}

export interface Toolkit {
  tools: (definition: AgentDefinition, signal?: AbortSignal) => Promise<readonly Tool[]>;
  /** The MCP servers that the definition names, and how they are. */
  mcp: McpServers;
  workspace: () => Promise<Workspace>;
  files?: RunFiles;
  /** The other agents of its team. */
  peers?: Peers;
  /** How questions about memories become numbers. */
  meaning?: Meant;
  close: () => Promise<void>;
}

/**
 * A tool is known by its name alone: to the model, and to the owner's rules. The agent's own come first, so a server
 * cannot choose a name that takes their place or their rules; what it offers under such a name is left out.
 */
function createNaming(leftOut: (tool: Tool) => void) {
  const told = new Set<string>();
  return (tools: readonly Tool[]): Tool[] => {
    const named = new Map<string, Tool>();
    for (const tool of tools) {
      const isTaken = named.has(tool.name);
      if (!isTaken) named.set(tool.name, tool);
      else if (!told.has(tool.name)) {
        told.add(tool.name);
        leftOut(tool);
      }
    }
    return [...named.values()];
  };
}

/** Into the agent's log, for its owner. */
const teller =
  ({ store, log }: ToolkitDeps) =>
  (level: 'error' | 'warn', message: string): void => {
    store.log({ level, message, source: 'mcp' }).catch((err: unknown) => log.error({ err }, 'agent log not written'));
  };

/** The agent's own toolsets, each made when it is first needed. */
function createToolsets({ sandbox, store, outbound, ...deps }: ToolkitDeps, workspace: () => Promise<Workspace>) {
  const toolsets: Record<ToolsetName, () => Promise<Tool[]> | Tool[]> = {
    filesystem: async () => filesystemTools(await workspace()),
    shell: async () => shellTools(await workspace(), sandbox, deps),
    think: thinkTools,
    todo: () => todoTools(store),
    memory: () => memoryTools(store, deps.meaning),
    fetch: () => fetchTools(outbound),
    browser: () => browserTools(workspace, { ...deps, sandbox }),
    code: async () => codeTools({ ...deps, workspace, run: commandRunner(await workspace(), sandbox, deps) }),
    background_jobs: async () => backgroundJobTools(await workspace(), sandbox, deps),
    user_prompt: userPromptTools,
  };
  const cache = new Map<ToolsetName, Promise<Tool[]>>();
  return (name: ToolsetName): Promise<Tool[]> => {
    const found = cache.get(name) ?? Promise.resolve(toolsets[name]());
    cache.set(name, found);
    return found;
  };
}

/** MCP servers, the agent's own and its owner's: what uses, opens and installs them. */
function createServers(deps: ToolkitDeps, workspace: () => Promise<Workspace>, tell: ReturnType<typeof teller>) {
  const { credentials: store, outbound, vault } = deps;
  const oauth = store && createMcpOAuth({ outbound, store, vault });
  const programs = deps.programs && createPrograms({ ...deps.programs, owner: deps.owner });
  const mcp = createMcpPool({
    ...deps,
    workspace,
    oauth,
    programs,
    onFailure: (server, why) => tell('error', `The MCP server ${server} cannot be used: ${why}.`),
    onTried({ shared }, tried) {
      if (shared === undefined) return;
      deps.owners
        ?.told(shared, tried)
        .catch((err: unknown) => deps.log.error({ err }, 'how an MCP server is was not kept'));
    },
  });
  return { mcp, oauth, programs };
}

/** The workspace as a tool, or a person, has it; made when it is first needed. */
function createSeen(deps: Pick<ToolkitDeps, 'workspaceRoot' | 'copy'> & WorkspaceOptions) {
  let made: Promise<Workspace> | undefined;
  const here = (): Promise<Workspace> => (made ??= makeWorkspace(deps.workspaceRoot, deps));
  return async (whose: 'tool' | 'person'): Promise<Workspace> =>
    deps.copy ? keptWorkspace(createWorkspace(deps.copy.root, deps), deps.copy, whose) : here();
}

/** For somebody who looks at files while nothing else of the agent is here. */
export const personsWorkspace = (deps: Parameters<typeof createSeen>[0]): Promise<Workspace> =>
  createSeen(deps)('person');

export function createToolkit(deps: ToolkitDeps): Toolkit {
  const { sandbox, peers, vault } = deps;
  const tell = teller(deps);
  const { mcp, oauth, programs } = createServers(deps, () => workspace(), tell);
  const inherited = createInherited(deps.owners, mcp.forget);
  const written = createWritten({
    ...deps,
    runner: async () => commandRunner(await workspace(), sandbox, deps),
    onFailure: (url, why) => tell('error', `The interface ${url} cannot be used: ${why}.`),
  });
  const unlike = createNaming(({ name, toolset }) =>
    tell('warn', `A tool of the MCP server ${toolset} is left out: there is another one named ${name}.`),
  );
  const seenBy = createSeen(deps);
  const workspace = () => seenBy('tool');

  const toolset = createToolsets(deps, workspace);
  const reading = deps.skills ? skillTools(deps.skills.shelf, deps.skills.source) : [];
  const searching = deps.knowledge ? knowledgeTools(deps.knowledge) : [];
  const keeping = deps.stores ? memoryStoreTools(deps.stores) : [];
  return {
    workspace: () => seenBy('person'),
    ...(deps.copy && { files: runFiles(deps.copy, deps.log) }),
    ...(peers && { peers }),
    ...(deps.meaning && { meaning: deps.meaning }),
    async tools(definition, signal) {
      const own = await written.after(definition, (await Promise.all(definition.tools.map(toolset))).flat());
      const team = peers ? teamTools(definition, peers) : [];
      const servers = await inherited.used(definition.mcpServers);
      const { allowedDomains } = definition.config.safety;
      const further = servers.length > 0 ? await mcp.tools(servers, { allowedDomains, signal }) : [];
      const skills = (definition.skills ?? []).length > 0 ? reading : [];
      const knowledge = (definition.knowledge ?? []).length > 0 ? searching : [];
      const ours = [...own, ...team, ...skills, ...knowledge, ...keeping];
      const all = unlike([...ours, ...(await written.tools(definition)), ...further]);
      return withSearch(definition, shortened(definition, offered(definition, all)));
    },
    mcp: { ...mcp, oauth, inherited, programs, sealed: (server) => sealServer(server, vault) },
    async close() {
      await mcp.close();
      // What cannot be stored was told to who wrote it; it holds up nobody's sleep.
      await deps.copy
        ?.keep()
        .catch((err: unknown) => deps.log.warn({ err, root: deps.copy?.root }, 'files could not be stored'));
    },
  };
}

const teamTools = (definition: AgentDefinition, peers: Peers): Tool[] => [
  ...transferTaskTools(definition.team?.members ?? [], peers),
  ...handoffTools(definition.team?.handoffs ?? [], peers),
  ...(definition.traits?.background ? backgroundTools(definition) : []),
];

/** What a call of a tool has changed is stored before anybody is told of it. */
function runFiles(copy: Copy, log: Log): RunFiles {
  async function told(result: ToolResult, fence: BlobFence, losses: number): Promise<ToolResult> {
    try {
      await copy.keep(fence);
      if (copy.losses() !== losses) throw new CopyLost();
      return result;
    } catch (error) {
      if (error instanceof Superseded) throw error;
      const isSaid = error instanceof WorkspaceError;
      if (!isSaid) log.error({ err: error, root: copy.root }, 'files could not be stored');
      const why = isSaid ? error.message : 'The files could not be stored, and may be lost.';
      return { ...result, isError: true, content: `${result.content}\n[${why}]` };
    }
  }

  return {
    begin: copy.unsure,
    async during(fence, work) {
      const losses = copy.losses();
      const result = await work().catch(async (error: unknown) => {
        // It was stopped: what it did is there for the next call all the same.
        await copy.keep(fence).catch((err: unknown) => log.warn({ err, root: copy.root }, 'files could not be stored'));
        throw error;
      });
      return told(result, fence, losses);
    },
  };
}
