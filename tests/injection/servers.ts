import { listen } from '@troupe/testing/mcp/counted';

/** What lies outside: a site, and somebody who waits for what is sent to him. */

/** Every request that came. */
export async function startSink() {
  const asked: string[] = [];
  const { port, close } = await listen((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('thank you');
  });
  return { asked, url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, close };
}

/** Pages by their path. */
export async function startSite(pages: Map<string, string>) {
  const { port, close } = await listen((request, response) => {
    const page = pages.get(request.url ?? '');
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(page ?? '');
  });
  return { url: `http://localhost:${port}`, host: `localhost:${port}`, close };
}
