import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** As some proxies write where somebody came from: with the port, which is another one each time. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([\da-f:.]+)\])(?::\d+)?$/i;

/**
 * What an address counts as in limits: whoever has one IPv6 address has the 2^64 of its network, so these are one. An
 * IPv4 address that came over IPv6 is itself; what is no address (`agent:…`) stays as it is.
 */
export function countedAddress(given: string): string {
  if (!given.includes(':')) return given;
  const [, plain4, plain6] = WITH_PORT.exec(given) ?? [];
  if (plain4 !== undefined) return plain4;
  const address = plain6 ?? given;
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  // The URL parser writes any IPv6 address in one way, embedded IPv4 parts and zones' absence included.
  const plain = URL.parse(`http://[${address.split('%', 1)[0]}]`)?.hostname.slice(1, -1);
  if (plain === undefined) return address;
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain);
  if (hex) {
    const [high, low] = [parseInt(hex[1]!, 16), parseInt(hex[2]!, 16)];
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  const [front, back] = plain.split('::') as [string, string?];
  const groups = front === '' ? [] : front.split(':');
  const tail = back === undefined || back === '' ? [] : back.split(':');
  const all = back === undefined ? groups : [...groups, ...Array(8 - groups.length - tail.length).fill('0'), ...tail];
  return `${all.slice(0, 4).join(':')}::/64`;
}
