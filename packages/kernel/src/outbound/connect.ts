import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { addressAllowed, rulesFor, type AddressRules } from './addresses.ts';
import { OutboundError, outboundError } from './errors.ts';
import type { Resolve } from './resolve.ts';

/** Ports that were asked for, whose ways are kept. */
const MOST_WAYS = 100;

/**
 * Connects only to allowed addresses. A name is resolved once and the checked result is what the socket uses, so a
 * second, different DNS answer has no chance; the connected socket's peer is checked again before a byte is sent.
 */
export function guardedConnector(
  build: typeof buildConnector,
  rules: AddressRules,
  { resolve, timeout }: { resolve: Resolve; timeout: number },
): buildConnector.connector {
  // What may be found for a name depends on the port, and a way looks names up without knowing it.
  const ways = new Map<number, buildConnector.connector>();
  function wayTo(port: number): buildConnector.connector {
    const known = ways.get(port);
    if (known) return known;
    const way = build({ timeout, allowH2: false, lookup: guardedLookup(rules, resolve, port) });
    if (ways.size >= MOST_WAYS) ways.clear();
    ways.set(port, way);
    return way;
  }
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80));
    const own = rulesFor(rules, hostname, port);
    // A host that is named with a port is closed at every other one, before anybody knocks there.
    const isOther = own === rules && rulesFor(rules, hostname) !== rules;
    // net.connect never calls lookup for an address.
    if (isOther || (isIP(hostname) !== 0 && !addressAllowed(hostname, own, { port }))) {
      queueMicrotask(() => callback(new OutboundError('blocked'), null));
      return;
    }
    wayTo(port)({ ...options, hostname }, (...[error, socket]) => {
      if (error) return callback(error, null);
      if (addressAllowed(socket.remoteAddress ?? '', own, { port })) return callback(null, socket);
      socket.destroy();
      callback(new OutboundError('blocked'), null);
    });
  };
}

function guardedLookup(rules: AddressRules, resolve: Resolve, port: number): LookupFunction {
  async function answer(hostname: string, all: boolean, callback: Parameters<LookupFunction>[2]) {
    try {
      const found = await resolve(hostname);
      const usable = found.filter(({ address }) => addressAllowed(address, rulesFor(rules, hostname), { port }));
      const [first] = usable;
      if (!first) throw new OutboundError(found.length > 0 ? 'blocked' : 'network');
      if (all) callback(null, usable);
      else callback(null, first.address, first.family);
    } catch (error) {
      callback(outboundError(error), []);
    }
  }
  return (hostname, options, callback) => void answer(hostname, options.all === true, callback);
}
