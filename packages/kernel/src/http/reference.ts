import { openApi } from '@troupe/contract';
import type { Server } from './server.ts';

/** OpenAPI of what is really served, at /api/openapi.json. Call it after the last `serve`. */
export function serveOpenApi(server: Server, title: string, version: string): void {
  // Bytes: those who are slow to take them share them.
  let text: Buffer | undefined;
  server.app.get('/api/openapi.json', async (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(openApi(server.endpoints, { title, version, url: server.url })));
    return reply.type('application/json').send(text);
  });
}
