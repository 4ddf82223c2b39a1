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

/** The form of a page as it is sent: its hidden fields, and what somebody types. */
function formOf(page: string, typed: Record<string, string>): { action: string; body: URLSearchParams } | undefined {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
  if (action === undefined) return undefined;
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = hidden.map(([, name = '', value = '']): [string, string] => [name, value]);
  return { action, body: new URLSearchParams({ ...typed, ...Object.fromEntries(fields) }) };
}

/**
 * `service` is ours: asked directly, or at the address where it listens. `base` is its public address. With `typed`,
 * forms of others are filled in with it and sent.
 */
export function createBrowser(
  service: FastifyInstance | string,
  base: string,
  typed?: Record<string, string>,
): Browser {
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

  async function get(url: URL, body?: URLSearchParams): Promise<{ status: number; location: string; page: string }> {
    const headers = { cookie: cookieHeader(url.origin) };
    const path = url.pathname + url.search;
    if (url.origin === base && typeof service !== 'string') {
      const answer = await service.inject({ url: path, headers });
      keep(url.origin, [answer.headers['set-cookie'] ?? []].flat());
      return { status: answer.statusCode, location: answer.headers.location ?? '', page: '' };
    }
    const target = url.origin === base ? String(service) + path : url;
    const answer = await fetch(target, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) });
    const page = await answer.text();
    keep(url.origin, answer.headers.getSetCookie());
    return { status: answer.status, location: answer.headers.get('location') ?? '', page };
  }

  return {
    cookies: () => Object.fromEntries(jarOf(base)),
    ask: (path) => get(new URL(path, base)),
    async visit(path) {
      let url = new URL(path, base);
      for (let hops = 0; hops < MOST_REDIRECTS; hops += 1) {
        if (url.origin === base && !url.pathname.startsWith('/api/')) return url.pathname + url.search;
        const { status, location: told, page } = await get(url);
        const form = told === '' && typed ? formOf(page, typed) : undefined;
        const location = form ? (await get(new URL(form.action, url), form.body)).location : told;
        if (!location) throw new Error(`${url.href} answered ${status} and no redirect`);
        url = new URL(location, url);
      }
      throw new Error('too many redirects');
    },
  };
}
