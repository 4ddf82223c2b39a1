import type { RunningPlatform } from './platform.ts';

/** A signed-in caller of the web API, as a script would be. */
export interface Caller {
  call: <T>(method: string, path: string, body?: unknown) => Promise<T>;
}

export async function signedInCaller(
  { url }: RunningPlatform,
  account: { email: string; password: string },
): Promise<Caller> {
  const answer = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  });
  if (!answer.ok) throw new Error(`sign-in of ${account.email}: ${answer.status} ${await answer.text()}`);
  const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!;
  return {
    call: async <T>(method: string, path: string, body?: unknown) => {
      const response = await fetch(url + path, {
        method,
        headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    },
  };
}

/** What a platform in use looks like: the pages are looked at with something in them. */
export async function makeContent(platform: RunningPlatform): Promise<{ agentId: string }> {
  const { call } = await signedInCaller(platform, platform.owner);
  await call('POST', '/api/keys', { name: 'Release script' });
  await call('POST', '/api/admin/invites', { email: 'guest@example.org' });
  return { agentId: '' };
}
