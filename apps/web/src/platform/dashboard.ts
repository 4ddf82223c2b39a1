import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { isPage } from '@troupe/contract';
import { AppError, type Server } from '@troupe/kernel';

const DIST = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url));

/** Serves the built dashboard; every page that is not a file gets its index, and the router in the browser takes over. */
export async function dashboardRoutes(server: Server, dist = DIST): Promise<void> {
  if (!existsSync(`${dist}index.html`)) {
    server.log.warn({}, 'the dashboard is not built: `npm start` builds it');
    return;
  }
  const index = await readFile(`${dist}index.html`);
  await server.app.register(fastifyStatic, {
    root: dist,
    // A route for each file, so that the one for pages below gets the rest.
    wildcard: false,
    index: false,
    cacheControl: false,
    setHeaders: (reply, path) => {
      // Names below assets carry a hash of what is in them.
      const lasting = path.startsWith(`${dist}assets/`);
      void reply.header('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache');
      // Pages of others load it.
      if (path === `${dist}widget.js`) void reply.header('cross-origin-resource-policy', 'cross-origin');
    },
  });
  server.app.get('/*', (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const { accept = '*/*' } = request.headers;
    const isThere = isPage(path);
    // A browser that is lost gets the page that says so; a program gets an answer that it can read.
    const wanted = isThere
      ? /text\/html|text\/\*|\*\/\*/.test(accept)
      : accept.includes('text/html') && !/^\/(api|assets|v1)(\/|$)/.test(path);
    if (!wanted) throw new AppError(404, 'Not found');
    return reply
      .status(isThere ? 200 : 404)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(index);
  });
}
