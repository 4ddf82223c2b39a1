import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { isPage } from '@troupe/contract';
import { AppError, type Server } from '@troupe/kernel';

const DIST = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url));

/** As they are asked for, below the root. */
const filesIn = async (dist: string): Promise<Set<string>> =>
  new Set(
    (await readdir(dist, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.relative(dist, path.join(parentPath, name)).split(path.sep).join('/')),
  );

/** Serves the built dashboard; every page that is not a file gets its index, and the router in the browser takes over. */
export async function dashboardRoutes(server: Server, dist = DIST): Promise<void> {
  if (!existsSync(`${dist}index.html`)) {
    server.log.warn({}, 'the dashboard is not built: `npm start` builds it');
    return;
  }
  const index = await readFile(`${dist}index.html`);
  await server.app.register(fastifyStatic, {
    root: dist,
    // It would make two routes for each of 200 files, which takes 70 ms of each start.
    serve: false,
    cacheControl: false,
    setHeaders: (reply, file) => {
      // Names below assets carry a hash of what is in them.
      const lasting = file.startsWith(`${dist}assets/`);
      void reply.header('cache-control', lasting ? 'public, max-age=31536000, immutable' : 'no-cache');
      // Pages of others load it.
      if (file === `${dist}widget.js`) void reply.header('cross-origin-resource-policy', 'cross-origin');
    },
  });
  const files = await filesIn(dist);
  server.app.get<{ Params: { '*': string } }>('/*', (request, reply) => {
    const { '*': name } = request.params;
    if (files.has(name)) return reply.sendFile(name);
    const asked = request.url.split('?', 1)[0] ?? '';
    const { accept = '*/*' } = request.headers;
    const isThere = isPage(asked);
    // A browser that is lost gets the page that says so; a program gets an answer that it can read.
    const wanted = isThere
      ? /text\/html|text\/\*|\*\/\*/.test(accept)
      : accept.includes('text/html') && !/^\/(api|assets|v1)(\/|$)/.test(asked);
    if (!wanted) throw new AppError(404, 'Not found');
    return reply
      .status(isThere ? 200 : 404)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(index);
  });
}
