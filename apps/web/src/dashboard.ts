import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { AppError, type Server } from '@troupe/kernel';

const DIST = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url));

/** Serves the built dashboard; every page path that is not a file gets its index, and the router in the browser takes over. */
export async function dashboardRoutes(server: Server): Promise<void> {
  if (!existsSync(`${DIST}index.html`)) {
    server.log.warn({}, 'the dashboard is not built: `npm start` builds it');
    return;
  }
  const index = await readFile(`${DIST}index.html`);
  await server.app.register(fastifyStatic, {
    root: DIST,
    // A route for each file, so that the one for pages below gets the rest.
    wildcard: false,
    index: false,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names below assets carry a hash of what is in them.
      const lasting = path.startsWith(`${DIST}assets/`);
      void reply.header('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
  server.app.get('/*', (request, reply) => {
    const isPage =
      !/^\/(api|assets|v1)(\/|$)/.test(request.url) && (request.headers.accept ?? '').includes('text/html');
    if (!isPage) throw new AppError(404, 'Not found');
    return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(index);
  });
}
