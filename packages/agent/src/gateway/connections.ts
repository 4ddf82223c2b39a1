import type { GatewayDeps } from './types.ts';

/** Connections that stay open: each shows its token again from time to time, and is cut when that no longer counts. */

export interface Connections {
  open: (entry: { agentId: string; token: string; principalId: string; cut: () => void }) => () => void;
  cut: (principalId: string) => void;
  close: () => void;
}

interface Entry {
  agentId: string;
  token: string;
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

  async function recheck(): Promise<void> {
    const tokens = Map.groupBy(entries, ({ agentId, token }) => `${agentId}\n${token}`);
    for (const group of tokens.values()) {
      const [first] = group;
      if (!first) continue;
      try {
        if (!(await verify(first.agentId, first.token))) for (const entry of group) entry.cut();
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
    },
    close() {
      clearInterval(timer);
      for (const entry of entries) entry.cut();
    },
  };
}
