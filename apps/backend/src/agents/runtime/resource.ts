import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLIENT_SCOPES } from '@troupe/domain';
import { challengeFor, RESOURCE_METADATA, type Server } from '@troupe/kernel';
import type { FastifyRequest } from 'fastify';
import { hostLabel, PROXY } from './target.ts';

/** No host is longer; to read one takes the square of its length. */
const LONGEST_HOST = 300;

/** An agent's MCP server as a protected resource (RFC 9728): who gives access tokens for it. */

export const isResourceMetadata = (path: string): boolean => {
  const [plain] = path.split('?', 1);
  return plain === RESOURCE_METADATA || plain === `${RESOURCE_METADATA}/mcp`;
};

export type Resource = ReturnType<typeof createResource>;

type Seen = Pick<FastifyRequest, 'protocol' | 'host' | 'hostname'>;

export function createResource({ settings }: Pick<Server, 'settings'>) {
  const labelOf = hostLabel(settings.AGENTS_DOMAIN);
  /** Without BASE_URL web is on the same machine, by the name that the client used. */
  const issuer = ({ hostname }: { hostname: string }): string =>
    settings.BASE_URL === undefined ? `http://${hostname}:${settings.WEB_PORT}` : new URL(settings.BASE_URL).origin;
  const describe = (resource: string, seen: { hostname: string }) => ({
    resource,
    authorization_servers: [issuer(seen)],
    scopes_supported: Object.keys(CLIENT_SCOPES).filter((scope) => scope.startsWith('agents:')),
    bearer_methods_supported: ['header'],
    resource_name: 'An agent on Troupe',
  });
  const origin = ({ protocol, host }: Seen): string => `${protocol}://${host}`;
  const named = (request: FastifyRequest): boolean => labelOf(request.raw) !== undefined;

  return {
    /** By the agent's own name, or below the platform's. */
    metadata: (request: FastifyRequest, agentId: string) =>
      describe(`${origin(request)}${named(request) ? '' : `${PROXY}/${agentId}`}/mcp`, request),

    described(request: { origin: string; headers: IncomingMessage['headers'] }, agentId: string) {
      const { host = '' } = request.headers;
      const url = (host.length > LONGEST_HOST ? null : URL.parse(`http://${host}`)) ?? new URL(request.origin);
      const { protocol } = new URL(request.origin);
      return describe(`${protocol}//${url.host}${PROXY}/${agentId}/mcp`, url);
    },

    /** A refusal says where to get a token, whoever refuses: the gateway here, or the agent elsewhere. */
    challenge(request: FastifyRequest, raw: ServerResponse, agentId: string): void {
      const path = named(request) ? '/mcp' : `${PROXY}/${agentId}/mcp`;
      const shown = request.headers.authorization !== undefined;
      const text = challengeFor({ origin: origin(request), path, shown });
      const writeHead = raw.writeHead.bind(raw) as (...args: unknown[]) => ServerResponse;
      raw.writeHead = ((status: number, ...rest: unknown[]) => {
        if (status === 401) raw.setHeader('www-authenticate', text);
        return writeHead(status, ...rest);
      }) as typeof raw.writeHead;
    },
  };
}
