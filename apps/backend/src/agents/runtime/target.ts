import type { IncomingMessage } from 'node:http';
import type { GatewayTarget } from '@troupe/agent';
import { AGENT_ID } from '@troupe/domain';

export const PROXY = '/api/runtime/proxy';
const PROXIED = /^\/api\/runtime\/proxy\/([^/?]+)(\/[^?]*)?(\?.*)?$/;

type Request = Pick<IncomingMessage, 'url' | 'headers'>;

/** The first part of the host name `<agentId>.<domain>`, in whatever capitals the client wrote it. */
export function hostLabel(domain: string): (request: Pick<Request, 'headers'>) => string | undefined {
  const ending = `.${domain.toLowerCase()}`;
  return ({ headers: { host: given = '' } }) => {
    // Asked with every request, and hardly ever so.
    if (!given.toLowerCase().includes(ending)) return undefined;
    const host = given.replace(/:\d*$/, '').replace(/\.$/, '');
    const label = host.toLowerCase().endsWith(ending) ? host.slice(0, -ending.length) : '';
    return AGENT_ID.test(label) ? label : undefined;
  };
}

/** Requests to `<agentId>.<domain>` as requests for that agent's gateway; undefined: the address stays as it is. */
export function hostRewrite(domain: string): (request: Request) => string | undefined {
  const labelOf = hostLabel(domain);
  return (request) => {
    const { url = '/' } = request;
    const label = labelOf(request);
    return label !== undefined && url.startsWith('/') ? `${PROXY}/${label}${url}` : undefined;
  };
}

/** The agent and the path below its root that an address means. */
export function targetOf(url: string): GatewayTarget | undefined {
  const [, agentId, path = '/', query = ''] = PROXIED.exec(url) ?? [];
  const id = agentId?.replaceAll(/[^A-Za-z0-9_-]/g, '');
  return id ? { agentId: id, path: path + query } : undefined;
}
