import type { GatewayDeps, Showing } from './types.ts';

/** Connections that stay open: each shows its token again from time to time, and is cut when that no longer counts. */

export interface Connections {
  open: (entry: Entry) => () => void;
  cut: (principalId: string) => void;
  close: () => void;
}

interface Entry {
  agentId: string;
  token: string;
  showing: Showing;
  principalId: string;
  cut: () => void;
}

const RECHECK_MS = 5000;

export function createConnections({
  verify,
  log,
  recheckMs = RECHECK_MS,
}: Pick<GatewayDeps, 'verify' | 'log' | 'recheckMs'>): Connections {
  const entries = new Set<Entry>();
  let timer: NodeJS.Timeout | undefined;

  async function recheck(agent?: string): Promise<void> {
    const asked = [...entries].filter(({ agentId }) => agent === undefined || agentId === agent);
    const tokens = Map.groupBy(asked, ({ agentId, token, showing }) =>
      [agentId, token, showing.socket, showing.caller].join('\n'),
    );
    for (const group of tokens.values()) {
      const [first] = group;
      if (!first) continue;
      try {
        if (!(await verify(first.agentId, first.token, { ...first.showing, isOpen: true })))
          for (const entry of group) entry.cut();
      } catch (err) {
        log.warn({ err }, 'tokens of open connections could not be checked');
      }
    }
  }

  return {
    open(entry) {
      entries.add(entry);
      timer ??= setInterval(() => void recheck(), recheckMs).unref();
      return () => {
        entries.delete(entry);
        if (entries.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    cut(principalId) {
      for (const entry of entries) if (entry.principalId === principalId) entry.cut();
      // Tickets end with the token of their agent.
      const [kind, agentId] = principalId.split(':');
      if (kind === 'owner' && agentId !== undefined) void recheck(agentId);
    },
    close() {
      clearInterval(timer);
      for (const entry of entries) entry.cut();
    },
  };
}
