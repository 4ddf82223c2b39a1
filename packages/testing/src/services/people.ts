import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@troupe/db';
import { newId, sha256Hex } from '@troupe/kernel';
import { TEST_SECRETS } from '../http/server.ts';
import type { Services } from './services.ts';
import { addUser, type TestUser } from './users.ts';

/** People who use agents, through the front doors of web and backend. */

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
export type Body = any;
export interface Reply {
  status: number;
  body: Body;
}

let calls = 0;
/** Every call from another address: rate limits have their own tests. */
export const elsewhere = (): string => `10.${(calls += 1) >> 16}.${(calls >> 8) & 255}.${calls & 255}`;

export async function send(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: /^[[{]/.test(text) ? JSON.parse(text) : text };
}

/** The cookie of a session made without signing in. */
export async function cookieOf(db: Database, user: TestUser): Promise<string> {
  const token = `${user.id.replaceAll('-', '')}${'0'.repeat(32)}`;
  await db.system
    .insertInto('sessions')
    .values({
      id: newId(),
      user_id: user.id,
      token_hash: sha256Hex(token),
      device: 'test',
      ip: '127.0.0.1',
      created_at: new Date(),
      last_seen_at: new Date(),
      expires_at: new Date(Date.now() + 3_600_000),
    })
    .execute();
  return `svc-session=${token}`;
}

export type Person = Awaited<ReturnType<typeof person>>;

/** Somebody with a session, and with the internal key so that each call can name an address. */
export async function person(services: Services, given: Parameters<typeof addUser>[1]) {
  const user = await addUser(services.runtime, given);
  const cookie = await cookieOf(services.runtime.db, user);
  const headers = () => ({
    cookie,
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    'x-client-ip': elsewhere(),
  });
  return {
    ...user,
    headers,
    ask: (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
      send(services.web + path, method, body, { ...headers(), ...more }),
  };
}

/** The backend, asked with the internal key. */
export const askBackend = (
  services: Services,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) =>
  send(services.backend + path, method, body, {
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    'x-client-ip': elsewhere(),
    ...headers,
  });

export async function provisioned(who: Person, body: Record<string, unknown> = {}): Promise<string> {
  const made = await who.ask('POST', '/api/agents/provision', { name: 'Ada', ...body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body.agent;
  // A busy container engine takes longer than whoever asks waits.
  const status = async (): Promise<string> => (await who.ask('GET', `/api/agents/${id}`)).body.agent.status;
  if (made.body.agent.status === 'provisioning') while ((await status()) === 'provisioning') await delay(200);
  return id;
}
