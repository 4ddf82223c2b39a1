import type { ApprovalRule, McpServer } from '@troupe/domain';

/** MCP servers of the agent's owner, which several agents have. The agent uses them, and changes nothing about them. */

/** A server as it is used: the agent's own, or one of its owner's. */
export interface UsedServer extends McpServer {
  /** Which of the owner's it is; left out: it is the agent's own. */
  shared?: string;
  /** What holds for its tools where the agent's rules say nothing of them. */
  approval?: ApprovalRule;
}

export interface OwnersServer extends UsedServer {
  shared: string;
  /** This agent does without it. */
  isOff: boolean;
}

/** How a server was when it was last tried. */
export interface Tried {
  state: 'connected' | 'failed' | 'consent';
  error?: string | undefined;
  offered?: readonly string[] | undefined;
}

export interface OwnersServers {
  /** Those that were given to this agent, with their secrets open. */
  list: () => Promise<readonly OwnersServer[]>;
  /** For its owner, once for each server and agent. */
  told: (shared: string, tried: Tried) => Promise<void>;
  /** How long what was listed counts, where it is far to ask; each time it is asked for anew unless said. */
  keptMs?: number;
}

export interface Inherited {
  /** The owner's servers, without those that the agent has one of its own for. */
  all: (own: readonly McpServer[]) => Promise<readonly OwnersServer[]>;
  /** What the agent uses: its own, and its owner's that it has not switched off. */
  used: (own: readonly McpServer[]) => Promise<UsedServer[]>;
  /** Looks whether the owner's that are used are still there: who only waits would not notice. */
  check: () => Promise<void>;
  /** The next look is a new one. */
  stale: () => void;
}

/** `gone` is told which servers the agent has no more. */
export function createInherited(source: OwnersServers | undefined, gone: (name: string) => Promise<void>): Inherited {
  let known: { until: number; made: Promise<readonly OwnersServer[]> } | undefined;
  let names: readonly string[] = [];

  async function look(from: OwnersServers): Promise<readonly OwnersServer[]> {
    const found = await from.list();
    const now = found.filter(({ isOff }) => !isOff).map(({ name }) => name);
    const lost = names.filter((name) => !now.includes(name));
    names = now;
    await Promise.all(lost.map(gone));
    return found;
  }

  function listed(): Promise<readonly OwnersServer[]> {
    if (!source) return Promise.resolve([]);
    if (known && known.until > Date.now()) return known.made;
    const made = look(source);
    const fresh = { until: Date.now() + (source.keptMs ?? 0), made };
    known = fresh;
    made.catch(() => {
      if (known === fresh) known = undefined;
    });
    return made;
  }

  async function all(own: readonly McpServer[]): Promise<readonly OwnersServer[]> {
    const taken = new Set(own.map(({ name }) => name));
    return (await listed()).filter(({ name }) => !taken.has(name));
  }

  return {
    all,
    used: async (own) => [...own, ...(await all(own)).filter(({ isOff }) => !isOff)],
    check: async () => void (names.length > 0 && (await listed())),
    stale: () => void (known = undefined),
  };
}
