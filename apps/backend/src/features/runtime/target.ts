import type { IncomingMessage } from 'node:http';
import type { GatewayTarget } from '@troupe/agent';

export const PROXY = '/api/runtime/proxy';
const PROXIED = /^\/api\/runtime\/proxy\/([^/?]+)(\/[^?]*)?(\?.*)?$/;
const AGENT_ID = /^[A-Za-z0-9_-]{1,100}$/;

type Request = Pick<IncomingMessage, 'url' | 'headers'>;

/** Requests to `<agentId>.<domain>` as requests for that agent's gateway; undefined: the address stays as it is. */
export function hostRewrite(domain: string): (request: Request) => string | undefined {
  const ending = `.${domain.toLowerCase()}`;
  return ({ url = '/', headers }) => {
    const host = (headers.host ?? '').replace(/:\d*$/, '').replace(/\.$/, '');
    if (!host.toLowerCase().endsWith(ending)) return undefined;
    const agentId = host.slice(0, -ending.length);
    return AGENT_ID.test(agentId) && url.startsWith('/') ? `${PROXY}/${agentId}${url}` : undefined;
  };
}

/** The agent and the path below its root that an address means. */
export function targetOf(url: string): GatewayTarget | undefined {
  const [, agentId, path = '/', query = ''] = PROXIED.exec(url) ?? [];
  if (agentId === undefined) return undefined;
  return { agentId: agentId.replaceAll(/[^A-Za-z0-9_-]/g, ''), path: path + query };
}
