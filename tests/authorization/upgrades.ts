import { request as open } from 'node:http';
import type { Caller } from './callers.ts';
import type { World } from './world.ts';

/** WebSockets: what a caller shows as bearer may stand in three places. */

function upgrade(base: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = open(base + path, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end();
  });
}

/** The statuses of all ways to open the owner's agent's socket, by address and by host name. */
export async function upgradesOf({ services, ids }: World, { headers }: Caller): Promise<number[]> {
  const { authorization, ...rest } = headers;
  const token = authorization?.slice('Bearer '.length);
  const host = `${ids.agentId}.${services.runtime.settings.AGENTS_DOMAIN}`;
  const places: [path: string, headers: Record<string, string>][] = [
    [`/api/runtime/proxy/${ids.agentId}`, {}],
    ['', { host }],
  ];
  const ways: [query: string, headers: Record<string, string>][] =
    token === undefined
      ? [['', {}]]
      : [
          ['', { authorization: `Bearer ${token}` }],
          [`?token=${encodeURIComponent(token)}`, {}],
          ['', { 'sec-websocket-protocol': `bearer, ${token}` }],
        ];
  return Promise.all(
    places.flatMap(([path, at]) =>
      ways.map(([query, shown]) => upgrade(services.backend, `${path}/ws${query}`, { ...rest, ...at, ...shown })),
    ),
  );
}
