import { lookup, Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

/** As every program of this machine finds names. It waits in one of two threads that the whole process shares. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

interface ResolveOptions {
  /** Addresses of name servers; the system's unless given. */
  servers?: readonly string[];
  hostsFile?: string;
  timeoutMs?: number;
}

const TIMEOUT_MS = 3_000;
const TRIES = 2;

/**
 * For names that users, models and other servers give. Whoever owns a name also owns its name server, and may let it
 * answer as late as it likes: so it is asked directly, without a thread, and a late answer holds up nobody else. Names
 * without a dot are this network's own, and the file of hosts goes first, as it does for the system.
 */
export function createResolve({
  servers,
  hostsFile = '/etc/hosts',
  timeoutMs = TIMEOUT_MS,
}: ResolveOptions = {}): Resolve {
  const hosts = createHosts(hostsFile);
  let resolver: Resolver | undefined;
  const ask = (): Resolver => {
    if (resolver) return resolver;
    resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
    if (servers) resolver.setServers(servers);
    return resolver;
  };

  return async (hostname) => {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (!name.includes('.') || name.endsWith('.localhost')) return systemResolve(hostname);
    const written = await hosts(name);
    if (written.length > 0) return written;
    const [four, six] = await Promise.allSettled([ask().resolve4(name), ask().resolve6(name)]);
    const found = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  };
}

/** What the file of hosts says of a name; it is read again when it has changed. */
function createHosts(file: string): Resolve {
  let known: { changed: number; names: Map<string, { address: string; family: number }[]> } | undefined;
  return async (name) => {
    try {
      const changed = (await stat(file)).mtimeMs;
      if (known?.changed !== changed) known = { changed, names: namesIn(await readFile(file, 'utf8')) };
    } catch {
      // There is none on this machine.
      return [];
    }
    return known.names.get(name) ?? [];
  };
}

function namesIn(text: string): Map<string, { address: string; family: number }[]> {
  const names = new Map<string, { address: string; family: number }[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...rest] = line.split('#', 1)[0]!.trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of rest.map((one) => one.toLowerCase()))
      names.set(name, [...(names.get(name) ?? []), { address, family }]);
  }
  return names;
}
