import { createBackend } from '@troupe/backend';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '../database/runtime.ts';
import type { Plan, SubscriptionStatus } from '@troupe/domain';
import { closeAll, newId, randomHex, sha256Hex, type Counters, type Env, type Server } from '@troupe/kernel';
import { createWeb } from '@troupe/web';

export interface Services {
  web: string;
  backend: string;
  runtime: Runtime;
  stop: () => Promise<void>;
}

export interface StartedServices extends Services {
  /** The servers themselves, for what cannot be seen from outside. */
  servers: { web: Server; backend: Server };
}

/** Web and backend on free ports and one empty database, as a client sees them. */
export async function startServices(
  env: Env = {},
  counted: (counters: Counters) => Counters = (counters) => counters,
): Promise<StartedServices> {
  const opened = await testRuntime(env);
  const runtime = { ...opened, counters: counted(opened.counters) };
  const deps = { ...runtime, version: '0.0.0-test' };
  const backend = await createBackend({ ...deps, url: 'http://127.0.0.1:3001' });
  const backendUrl = await backend.server.listen(0, 'BACKEND_PORT');
  const web = await createWeb({ ...deps, url: 'http://127.0.0.1:3000', backendUrl });
  await runtime.jobs.start();
  // Who gives its port wants others to find it there.
  const webUrl = await web.server.listen(Number(env['WEB_PORT'] ?? 0), 'WEB_PORT');
  return {
    web: webUrl,
    backend: backendUrl,
    runtime,
    servers: { web: web.server, backend: backend.server },
    stop: () => closeAll([runtime, backend, web]),
  };
}

export interface TestUser {
  id: string;
  email: string;
  /** An API key of the user. */
  key: string;
}

/** A user with an API key, made without going through the sign-up. */
export async function addUser(
  { db }: Pick<Runtime, 'db'>,
  given: { plan?: Plan; subscriptionStatus?: SubscriptionStatus; isAdmin?: boolean; creditMicros?: bigint } = {},
): Promise<TestUser> {
  const id = newId();
  const key = `sk_${randomHex(32)}`;
  const email = `${id}@example.org`;
  const now = new Date();
  await db.system
    .insertInto('users')
    .values({
      id,
      email,
      name: 'Test',
      referral_code: id.slice(0, 20),
      plan: given.plan ?? null,
      subscription_status: given.subscriptionStatus ?? 'active',
      is_admin: given.isAdmin ?? false,
      credit_micros: given.creditMicros ?? 0n,
      email_verified_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute();
  await db.system
    .insertInto('api_keys')
    .values({ id: newId(), user_id: id, name: 'test', preview: 'sk_…', key_hash: sha256Hex(key), created_at: now })
    .execute();
  return { id, email, key };
}
