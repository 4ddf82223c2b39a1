import type { FastifyInstance } from 'fastify';

/** What a browser does with redirects and cookies, over our service (asked directly) and others (over HTTP). */
export interface Browser {
  /** Follows redirects from there until one leads to a page of ours outside /api; tells which. */
  visit: (path: string) => Promise<string>;
  /** One request to our service, redirects not followed. */
  ask: (path: string) => Promise<{ status: number; location: string }>;
  cookies: () => Record<string, string>;
}

const MOST_REDIRECTS = 12;

export function createBrowser(app: FastifyInstance, base: string): Browser {
  const jars = new Map<string, Map<string, string>>();

  function jarOf(origin: string): Map<string, string> {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  }
  const cookieHeader = (origin: string) => [...jarOf(origin)].map(([name, value]) => `${name}=${value}`).join('; ');
  function keep(origin: string, set: string[]): void {
    for (const line of set) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === '') jarOf(origin).delete(name);
      else jarOf(origin).set(name, value);
    }
  }

  async function get(url: URL): Promise<{ status: number; location: string }> {
    const headers = { cookie: cookieHeader(url.origin) };
    if (url.origin === base) {
      const answer = await app.inject({ url: url.pathname + url.search, headers });
      keep(url.origin, [answer.headers['set-cookie'] ?? []].flat());
      return { status: answer.statusCode, location: answer.headers.location ?? '' };
    }
    const answer = await fetch(url, { redirect: 'manual', headers });
    await answer.text();
    keep(url.origin, answer.headers.getSetCookie());
    return { status: answer.status, location: answer.headers.get('location') ?? '' };
  }

  return {
    cookies: () => Object.fromEntries(jarOf(base)),
    ask: (path) => get(new URL(path, base)),
    async visit(path) {
      let url = new URL(path, base);
      for (let hops = 0; hops < MOST_REDIRECTS; hops += 1) {
        if (url.origin === base && !url.pathname.startsWith('/api/')) return url.pathname + url.search;
        const { status, location } = await get(url);
        if (!location) throw new Error(`${url.href} answered ${status} and no redirect`);
        url = new URL(location, url);
      }
      throw new Error('too many redirects');
    },
  };
}
