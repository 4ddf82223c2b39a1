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

interface Group {
  key: string;
  entries: Set<Entry>;
}

const RECHECK_MS = 5000;

const keyOf = ({ agentId, token, showing }: Entry): string =>
  [agentId, token, showing.socket, showing.caller].join('\n');

type Deps = Pick<GatewayDeps, 'verify' | 'log' | 'recheckMs'>;

/** Cuts those who show what no longer counts. */
const checkBy =
  ({ verify, log }: Deps) =>
  async (entries: Iterable<Entry>, { agentId, token, showing }: Entry): Promise<void> => {
    try {
      if (await verify(agentId, token, { ...showing, isOpen: true })) return;
      for (const entry of entries) entry.cut();
    } catch (err) {
      log.warn({ err }, 'tokens of open connections could not be checked');
    }
  };

export function createConnections(deps: Deps): Connections {
  const { recheckMs = RECHECK_MS } = deps;
  const check = checkBy(deps);
  /** Those who show the same: they are asked for once. */
  const groups = new Map<string, Group>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  const cutAll = (isMeant: (entry: Entry) => boolean): void => {
    for (const { entries } of groups.values()) for (const entry of entries) if (isMeant(entry)) entry.cut();
  };

  const recheck = async (isAsked: (agentId: string) => boolean): Promise<void> => {
    // Those who come meanwhile have just been asked.
    const open = [...groups.values()];
    for (const { entries } of open) {
      const [first] = entries;
      if (first && isAsked(first.agentId)) await check(entries, first);
    }
  };

  /** A round that takes longer than it should is not overtaken by the next. */
  async function round(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    await recheck(() => true);
    isChecking = false;
  }

  return {
    open(entry) {
      const key = keyOf(entry);
      const group = groups.get(key) ?? { key, entries: new Set() };
      group.entries.add(entry);
      groups.set(group.key, group);
      timer ??= setInterval(() => void round(), recheckMs).unref();
      return () => {
        const { entries } = group;
        entries.delete(entry);
        if (entries.size === 0 && groups.get(group.key) === group) groups.delete(group.key);
        if (groups.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    cut(principalId) {
      cutAll((entry) => entry.principalId === principalId);
      // Tickets end with the token of their agent.
      const [kind, agentId] = principalId.split(':');
      if (kind === 'owner' && agentId !== undefined) void recheck((one) => one === agentId);
    },
    close() {
      clearInterval(timer);
      cutAll(() => true);
    },
  };
}
