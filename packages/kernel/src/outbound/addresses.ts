import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** Also 127.0.0.0/8, ::1, and every port of this machine's own addresses. */
  allowLoopback?: boolean;
  /** Also private networks: RFC 1918, carrier-grade NAT, IPv6 unique local. Link-local (cloud metadata) stays refused. */
  allowPrivate?: boolean;
  /** Hosts of the own network, `name` or `name:port`, that may be anywhere but link-local. */
  privateHosts?: readonly string[];
}

/** The rules for one host; without a port, whether any of its ports is named. */
export function rulesFor(rules: AddressRules, host: string, port?: number | string): AddressRules {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  const named = (rules.privateHosts ?? []).some((entry) => {
    const [, known = '', only] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    return known === name && (only === undefined || port === undefined || String(port) === only);
  });
  return named ? { allowLoopback: true, allowPrivate: true } : rules;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const PRIVATE_RANGES = new Set(['private', 'carrierGradeNat', 'uniqueLocal']);

/** Where this machine answers anybody, if it does. What else listens there a firewall may keep from all others, and not from us. */
const WEB_PORTS = new Set([80, 443]);
/** They seldom change. */
const LOOK_MS = 10_000;

let found: { until: number; addresses: ReadonlySet<string> } = { until: 0, addresses: new Set() };
function ownAddresses(): ReadonlySet<string> {
  if (Date.now() < found.until) return found.addresses;
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const addresses = new Set(all.map(({ address }) => plain(ipaddr.parse(address))));
  found = { until: Date.now() + LOOK_MS, addresses };
  return addresses;
}

/** Without a zone, which says by which of our interfaces it is reached. */
const plain = (parsed: ipaddr.IPv4 | ipaddr.IPv6): string => ipaddr.fromByteArray(parsed.toByteArray()).toString();

/** Whether a connection to this IP address is allowed. Anything that is not plainly public is refused. */
export function addressAllowed(
  address: string,
  rules: AddressRules = {},
  { port, own = ownAddresses }: { port?: number; own?: () => ReadonlySet<string> } = {},
): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = effective(ipaddr.parse(address));
  const isOurs = port !== undefined && !WEB_PORTS.has(port) && own().has(plain(parsed));
  if (isOurs && rules.allowLoopback !== true) return false;
  const range = parsed.range();
  if (range === 'loopback') return rules.allowLoopback === true;
  if (PRIVATE_RANGES.has(range)) return rules.allowPrivate === true;
  if (range !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}

/** An IPv6 form that the network turns into an IPv4 address is judged by that one. */
function effective(parsed: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (parsed instanceof ipaddr.IPv4) return parsed;
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address();
  if (parsed.match(NAT64)) return new ipaddr.IPv4(parsed.toByteArray().slice(12));
  return parsed;
}
