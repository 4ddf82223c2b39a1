import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { addressAllowed, rulesFor, type AddressRules } from './addresses.ts';
import { OutboundError, outboundError } from './errors.ts';
import type { Resolve } from './resolve.ts';

/**
 * Connects only to allowed addresses. A name is resolved once and the checked result is what the socket uses, so a
 * second, different DNS answer has no chance; the connected socket's peer is checked again before a byte is sent.
 */
export function guardedConnector(
  build: typeof buildConnector,
  rules: AddressRules,
  { resolve, timeout }: { resolve: Resolve; timeout: number },
): buildConnector.connector {
  const connect = build({ timeout, allowH2: false, lookup: guardedLookup(rules, resolve) });
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '');
    const port = options.port || (options.protocol === 'https:' ? 443 : 80);
    const own = rulesFor(rules, hostname, port);
    // A host that is named with a port is closed at every other one, before anybody knocks there.
    const isOther = own === rules && rulesFor(rules, hostname) !== rules;
    // net.connect never calls lookup for an address.
    if (isOther || (isIP(hostname) !== 0 && !addressAllowed(hostname, own))) {
      queueMicrotask(() => callback(new OutboundError('blocked'), null));
      return;
    }
    connect({ ...options, hostname }, (...[error, socket]) => {
      if (error) return callback(error, null);
      if (addressAllowed(socket.remoteAddress ?? '', own)) return callback(null, socket);
      socket.destroy();
      callback(new OutboundError('blocked'), null);
    });
  };
}

function guardedLookup(rules: AddressRules, resolve: Resolve): LookupFunction {
  async function answer(hostname: string, all: boolean, callback: Parameters<LookupFunction>[2]) {
    try {
      const found = await resolve(hostname);
      const usable = found.filter(({ address }) => addressAllowed(address, rulesFor(rules, hostname)));
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
