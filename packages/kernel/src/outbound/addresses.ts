import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** Also 127.0.0.0/8 and ::1. */
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

/** Whether a connection to this IP address is allowed. Anything that is not plainly public is refused. */
export function addressAllowed(address: string, rules: AddressRules = {}): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = effective(ipaddr.parse(address));
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
