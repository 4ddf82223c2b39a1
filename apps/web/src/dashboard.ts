import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { Server } from '@troupe/kernel';

const DIST = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url));
const YEAR = 31_536_000;

/** Serves the built dashboard; every page path that is not a file gets its index, and the router in the browser takes over. */
export async function dashboardRoutes(server: Server): Promise<void> {
  if (!existsSync(`${DIST}index.html`)) {
    server.log.warn({}, 'the dashboard is not built: run `npm run build`');
    return;
  }
  const index = await readFile(`${DIST}index.html`);
  await server.app.register(fastifyStatic, {
    root: `${DIST}assets`,
    prefix: '/assets/',
    maxAge: YEAR * 1000,
    immutable: true,
    decorateReply: false,
  });
  server.app.setNotFoundHandler((request, reply) => {
    const isPage =
      request.method === 'GET' &&
      !/^\/(api|assets|v1)(\/|$)/.test(request.url) &&
      (request.headers.accept ?? '').includes('text/html');
    if (!isPage) return reply.status(404).send({ error: 'Not found' });
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(index);
  });
}
