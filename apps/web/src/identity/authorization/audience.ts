import { AGENT_ID } from '@troupe/domain';
import { isLoopbackHost } from '@troupe/kernel';

/**
 * What a resource (RFC 8707) is here: `platform`, or the id of an agent. An address that is not ours is nothing: a token
 * for it would be taken by whoever is there, and could be shown to us.
 */

export interface Places {
  /** The platform as the browser sees it, and as it calls itself. */
  origins: readonly string[];
  backendUrl: string;
  agentsDomain: string;
}

const PROXIED = /^\/api\/runtime\/proxy\/([^/]+)\/mcp\/?$/;

export function audienceOf(resource: string | undefined, places: Places): string | undefined {
  if (resource === undefined) return 'platform';
  const url = URL.parse(resource);
  if (!url || !/^https?:$/.test(url.protocol) || url.hash !== '' || url.search !== '') return undefined;
  const label = hostLabel(url, places.agentsDomain);
  if (label !== undefined) return /^\/mcp\/?$/.test(url.pathname) ? label : undefined;
  const isPlatform = places.origins.some((origin) => isSame(url, origin));
  if (isPlatform && /^\/mcp\/?$/.test(url.pathname)) return 'platform';
  const agentId = PROXIED.exec(url.pathname)?.[1];
  if (agentId === undefined || !AGENT_ID.test(agentId)) return undefined;
  return isPlatform || isSame(url, places.backendUrl) ? agentId : undefined;
}

function hostLabel({ hostname }: URL, domain: string): string | undefined {
  const ending = `.${domain.toLowerCase()}`;
  const label = hostname.endsWith(ending) ? hostname.slice(0, -ending.length) : '';
  return AGENT_ID.test(label) ? label : undefined;
}

/** This machine has several names. */
function isSame(url: URL, other: string): boolean {
  const known = new URL(other);
  if (url.origin === known.origin) return true;
  return isLoopbackHost(url.hostname) && isLoopbackHost(known.hostname) && url.port === known.port;
}
