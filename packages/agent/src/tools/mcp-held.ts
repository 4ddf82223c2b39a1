import { untilAborted } from '../until-aborted.ts';
import { connect, type ConnectDeps, type Connection } from './mcp-connect.ts';
import type { UsedServer } from './mcp-shared.ts';
import { reasonOf } from './mcp-words.ts';

/** Connections to MCP servers, each made once for all who want it, and kept. */

export interface McpUse {
  allowedDomains: readonly string[];
  signal?: AbortSignal | undefined;
}

type Outcome = { state: 'connected'; tools: string[]; error?: never } | ReturnType<typeof reasonOf>;

interface Held {
  server: UsedServer;
  made: Promise<Connection | undefined>;
  stop: AbortController;
  /** Runs that wait for it. */
  waiting: number;
  /** Not to be tried again before. */
  restsUntil: number;
}

/** A server that failed is not tried again before this, unless somebody asks for it. */
const REST_MS = 30_000;

const keyOf = (server: UsedServer, { allowedDomains }: McpUse): string =>
  JSON.stringify([server, server.command === undefined ? [] : allowedDomains]);

export function createHeld(deps: ConnectDeps, told: (server: UsedServer, outcome: Outcome) => void) {
  const connections = new Map<string, Held>();
  let closed = false;

  async function end(over: (held: Held) => boolean, why: string): Promise<void> {
    const ending = [...connections].filter(([, held]) => over(held));
    for (const [key] of ending) connections.delete(key);
    await Promise.all(ending.map(([, held]) => finish(deps, held, why)));
  }

  function connection(server: UsedServer, use: McpUse): Held {
    const key = keyOf(server, use);
    const known = connections.get(key);
    if (known && (known.restsUntil === 0 || known.restsUntil > Date.now())) return known;
    const forget = (): void => {
      if (connections.get(key) === held) connections.delete(key);
    };
    const renew = async (): Promise<Connection | undefined> => {
      forget();
      return closed ? undefined : connection(server, use).made;
    };
    const held = begin(deps, server, { use, told, forget, renew });
    const isSame = (other: Held): boolean => JSON.stringify(other.server) === JSON.stringify(server);
    void end(isSame, 'the agent may reach other domains now');
    connections.set(key, held);
    return held;
  }

  /** One that failed before is tried anew by the next; one that stands is asked whether it really does. */
  async function doubt(server: UsedServer, use: McpUse): Promise<void> {
    const known = connections.get(keyOf(server, use));
    if (!known) return;
    const rested = known.restsUntil > 0;
    const standing = await untilAborted(known.made, use.signal);
    if (standing ? !(await standing.answers(use.signal)) : rested)
      await end((one) => one === known, 'it does not answer');
  }

  return {
    async connected(server: UsedServer, use: McpUse): Promise<Connection | undefined> {
      return closed ? undefined : waitFor(connection(server, use), use.signal);
    },
    doubt,
    /** The server of that name is another one now, or none. */
    forget: (name: string) => end(({ server }) => server.name === name, 'the server was changed or removed'),
    close(): Promise<void> {
      closed = true;
      return end(() => true, 'the agent sleeps');
    },
  };
}

/** Waits as long as the run does; the last one who gives up takes an unfinished connection with it. */
async function waitFor(held: Held, signal: AbortSignal | undefined): Promise<Connection | undefined> {
  let ready = false;
  held.waiting += 1;
  try {
    const made = await untilAborted(held.made, signal);
    ready = true;
    return made;
  } finally {
    held.waiting -= 1;
    if (!ready && held.waiting === 0) held.stop.abort(new Error('nobody waits for the server any more'));
  }
}

async function finish({ log }: ConnectDeps, { server, stop, made }: Held, why: string): Promise<void> {
  stop.abort(new Error(why));
  const connected = await made;
  await connected
    ?.close()
    .catch((err: unknown) => log.warn({ err, server: server.name }, 'MCP server not left in order'));
}

/** A server that does not start leaves the agent without its tools, not without its voice: `made` does not fail. */
function begin(
  deps: ConnectDeps,
  server: UsedServer,
  given: {
    use: McpUse;
    told: (server: UsedServer, outcome: Outcome) => void;
    forget: () => void;
    renew: () => Promise<Connection | undefined>;
  },
): Held {
  const { use, told, forget, renew } = given;
  const stop = new AbortController();
  const { signal } = stop;
  const made = connect(deps, server, { allowedDomains: use.allowedDomains, forget, renew, signal }).then(
    (connected) => {
      told(server, { state: 'connected', tools: connected.tools.map(({ name }) => name) });
      return connected;
    },
    (error: unknown) => {
      if (signal.aborted) forget();
      else {
        held.restsUntil = Date.now() + REST_MS;
        deps.log.warn({ err: error, server: server.name }, 'MCP server not available');
        told(server, reasonOf(error));
      }
      return undefined;
    },
  );
  const held: Held = { server, made, stop, waiting: 0, restsUntil: 0 };
  return held;
}
