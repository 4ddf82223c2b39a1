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

interface Made {
  agent: { id: string };
}

/** What a platform in use looks like: the pages are looked at with something in them. */
export async function makeContent(platform: RunningPlatform): Promise<{ agentId: string }> {
  const { call } = await signedInCaller(platform, platform.owner);
  const provision = (name: string, instruction: string) =>
    call<Made>('POST', '/api/agents/provision', {
      name,
      model: 'sandbox/echo',
      config: { instruction, tools: ['filesystem', 'think', 'todo', 'memory'] },
    });
  const { agent } = await provision('Ada', 'You look after the release calendar.');
  await provision('Booking desk', 'You answer booking requests.');
  await call('POST', '/api/chat', { agentId: agent.id, message: 'What is on the calendar this week?' });
  await call('POST', '/api/memory', {
    agentId: agent.id,
    key: 'Release day',
    memory: 'The next record is out on Friday.',
  });
  await call('POST', '/api/scheduled-tasks', {
    name: 'Morning report',
    cronSchedule: '0 9 * * *',
    prompt: 'Write a short report.',
    agentId: agent.id,
  });
  await call('POST', '/api/provision/team', { plan: 'network', templateKey: 'content_team' });
  const { token } = await call<{ token: string }>('GET', `/api/agents/${agent.id}/token`);
  await fetch(`${platform.url}/api/devices/pair`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Pocket phone' }),
  });
  await call('PUT', '/api/usage/caps', { scope: 'user', period: 'month', limitUsd: 20 });
  await call('POST', '/api/wallet', { action: 'create' });
  await call('POST', '/api/keys', { name: 'Release script' });
  await call('POST', '/api/admin/invites', { email: 'guest@example.org' });
  return { agentId: agent.id };
}
