import { Socket } from 'node:net';
import pg from 'pg';
import { StartError } from '@troupe/kernel';

/** A database with several servers, as libpq writes their addresses: `postgresql://user@a:5432,b:5432/name`. */

interface Address {
  host: string;
  port: number;
}

/** What pg takes, and what hands its own settings on to it. */
export interface ConnectionTo {
  connectionString: string;
  stream?: () => Socket;
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/;
const DEFAULT_PORT = 5432;
/** Roles change hands; whoever connects more often than that goes where the last one went. */
const FRESH_MS = 1_000;
const PROBE_MS = 2_000;
const WRITES = new Set([null, 'read-write', 'primary']);

/** With several addresses each connection leads to the one that takes writes at that moment. */
export function connectionTo(url: string): ConnectionTo {
  const [, before = '', list = '', after = ''] = PARTS.exec(url) ?? [];
  if (!list.includes(',')) return { connectionString: url };
  const wanted = new URLSearchParams(after.split('?')[1]).get('target_session_attrs');
  if (!WRITES.has(wanted))
    throw new StartError(`DATABASE_URL asks for target_session_attrs=${wanted}: only read-write can be worked with.`);
  const addresses = list.split(',').map(readAddress);
  const single = ({ host, port }: Address): string => `${before}${host}:${port}${after}`;
  const finder = createFinder(addresses, single);
  return { connectionString: single(addresses[0]!), stream: () => new SocketToPrimary(finder) };
}

function readAddress(text: string): Address {
  const [, host, port] = /^(\[[\da-f:]+\]|[^:[\]]+)(?::(\d+))?$/i.exec(text) ?? [];
  if (host === undefined) throw new StartError(`DATABASE_URL names "${text}" as a server, which is no host:port.`);
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port) };
}

interface Finder {
  find: () => Promise<Address>;
  forget: () => void;
}

function createFinder(addresses: readonly Address[], single: (address: Address) => string): Finder {
  let found: { address: Address; at: number } | undefined;
  let looking: Promise<Address> | undefined;

  async function probe(address: Address): Promise<Address> {
    const client = new pg.Client({ connectionString: single(address), connectionTimeoutMillis: PROBE_MS });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
      if (rows[0]?.standby !== false) throw new Error(`${address.host}:${address.port} is a standby`);
      return address;
    } finally {
      void client.end().catch(() => {});
    }
  }

  async function look(): Promise<Address> {
    try {
      const address = await Promise.any(addresses.map(probe));
      found = { address, at: performance.now() };
      return address;
    } catch (cause) {
      const { errors } = cause as AggregateError;
      // as one that is just restarting: whoever has sent nothing yet tries again
      throw Object.assign(new Error(`no server takes writes: ${errors.join('; ')}`, { cause }), {
        code: 'ECONNREFUSED',
      });
    }
  }

  return {
    async find() {
      if (found && performance.now() - found.at < FRESH_MS) return found.address;
      looking ??= look().finally(() => (looking = undefined));
      return looking;
    },
    forget: () => (found = undefined),
  };
}

/** Goes where the primary is, wherever it is told to go. */
class SocketToPrimary extends Socket {
  readonly #finder: Finder;

  constructor(finder: Finder) {
    super();
    this.#finder = finder;
    this.on('error', finder.forget);
  }

  override connect(..._to: unknown[]): this {
    this.#finder.find().then(
      ({ host, port }) => !this.destroyed && super.connect(port, host.replace(/^\[|\]$/g, '')),
      (error: Error) => this.destroy(error),
    );
    return this;
  }
}
