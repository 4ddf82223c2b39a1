import type { ConnectDeps } from './mcp-connect.ts';
import { createHeld, type McpUse } from './mcp-held.ts';
import type { Tried, UsedServer } from './mcp-shared.ts';
import { nameOf } from './mcp-words.ts';
import { failed, type Tool } from './tool.ts';

/**
 * Tools of MCP servers: programs that run in the sandbox, or services that are reached through the guarded client. A
 * server is started when its tools are first needed and kept until the agent sleeps. One that cannot be used says why:
 * to its owner, and to the model, which is offered a tool that tries again in place of the server's own.
 */

export interface McpPool {
  /** Given up by everybody who asked, servers are not listened to any further. */
  tools: (servers: readonly UsedServer[], how: McpUse) => Promise<Tool[]>;
  /** How each of them is, as far as it was tried. */
  states: (servers: readonly UsedServer[]) => McpState[];
  /** Tries one now, whatever came of it before. */
  test: (server: UsedServer, how: McpUse) => Promise<McpState>;
  /** It is another one now, or none: what there was under the name ends. */
  forget: (name: string) => Promise<void>;
  close: () => Promise<void>;
}

interface McpState {
  name: string;
  state: 'unused' | 'connected' | 'failed' | 'consent';
  /** Why it cannot be used. */
  error?: string;
  tools?: string[];
  at?: string;
}

export interface McpDeps extends ConnectDeps {
  /** Told when a server that worked, or was not tried, cannot be used. */
  onFailure?: (server: string, why: string) => void;
  /** Told how a server is whenever that is another than before. */
  onTried?: (server: UsedServer, tried: Tried) => void;
}

export function createMcpPool(deps: McpDeps): McpPool {
  const states = new Map<string, McpState>();
  const stateOf = (name: string): McpState => states.get(name) ?? { name, state: 'unused' };
  const held = createHeld(deps, (server, state) => {
    const { name } = server;
    const before = states.get(name);
    const now: McpState = { name, ...state, at: new Date().toISOString() };
    states.set(name, now);
    if (!before || told(before) !== told(now)) deps.onTried?.(server, { ...state, offered: now.tools });
    if (state.error !== undefined && before?.error !== state.error) deps.onFailure?.(name, state.error);
  });

  /** In place of the tools that are missing. */
  function unavailable(server: UsedServer, use: McpUse): Tool {
    const why = (): string => stateOf(server.name).error ?? 'it does not answer';
    return {
      name: nameOf(server, 'unavailable'),
      toolset: server.name,
      offeredAs: 'unavailable',
      description: `The tools of ${server.name} are missing: ${why()}. Call this to try again.`.slice(0, 1000),
      parameters: { type: 'object', properties: {} },
      repeatable: true,
      async run(_args, { signal }) {
        const state = await test(server, { ...use, signal });
        if (state.state !== 'connected') return failed(`${server.name} cannot be used: ${why()}.`);
        return { content: `${server.name} is back; its tools are offered from the next message on.` };
      },
    };
  }

  async function test(server: UsedServer, use: McpUse): Promise<McpState> {
    await held.doubt(server, use);
    await held.connected(server, use);
    return stateOf(server.name);
  }

  return {
    async tools(servers, use) {
      const offered = servers.map(async (server) => {
        const found = await held.connected(server, use);
        return found?.tools ?? [unavailable(server, use)];
      });
      return (await Promise.all(offered)).flat();
    },
    states: (servers) => servers.map(({ name }) => stateOf(name)),
    test,
    async forget(name) {
      await held.forget(name);
      states.delete(name);
    },
    close: held.close,
  };
}

/** What there is to be told: the time alone is no news. */
const told = ({ state, error, tools }: McpState): string => JSON.stringify([state, error, tools]);
