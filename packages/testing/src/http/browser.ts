import type { FastifyInstance } from 'fastify';

/** What a browser does with redirects and cookies, at our service and at others. */
export interface Browser {
  /** Follows redirects from there until one leads to a page of ours outside /api; tells which. */
  visit: (path: string) => Promise<string>;
  /** One request to our service, redirects not followed. */
  ask: (path: string) => Promise<{ status: number; location: string }>;
  cookies: () => Record<string, string>;
}

const MOST_REDIRECTS = 12;

/** `service` is ours: asked directly, or at the address where it listens. `base` is its public address. */
export function createBrowser(service: FastifyInstance | string, base: string): Browser {
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
    const path = url.pathname + url.search;
    if (url.origin === base && typeof service !== 'string') {
      const answer = await service.inject({ url: path, headers });
      keep(url.origin, [answer.headers['set-cookie'] ?? []].flat());
      return { status: answer.statusCode, location: answer.headers.location ?? '' };
    }
    const target = url.origin === base ? String(service) + path : url;
    const answer = await fetch(target, { redirect: 'manual', headers });
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
