import assert from 'node:assert/strict';
import type { NewUser } from '@troupe/accounts';
import { testRuntime } from '@troupe/testing/database/runtime';
import { quickPasswords } from '@troupe/testing/services/passwords';
import { randomHex, type Env } from '@troupe/kernel';
import { createWeb, type Web } from './app.ts';
import type { WebDeps } from './deps.ts';

export interface TestWeb extends Web {
  deps: WebDeps;
  stop: () => Promise<void>;
}

/** A whole web service on an empty database of its own; ask it with `server.app.inject`, or let it listen. */
export async function testWeb({ env, ...given }: Partial<WebDeps> & { env?: Env } = {}): Promise<TestWeb> {
  const runtime = await testRuntime(env);
  const deps: WebDeps = {
    ...runtime,
    url: 'http://127.0.0.1:3000',
    backendUrl: 'http://127.0.0.1:9',
    version: '0.0.0-test',
    passwords: quickPasswords(),
    ...given,
  };
  const web = await createWeb(deps);
  await deps.jobs.start();
  return {
    ...web,
    deps,
    async stop() {
      await web.close();
      await runtime.close();
    },
  };
}

export interface Person {
  id: string;
  email: string;
  /** Headers of a request with the person's session. */
  headers: { cookie: string };
}

/** A new user with a session. */
export function signedIn({ accounts, deps }: TestWeb, given: Partial<NewUser> = {}): Promise<Person> {
  return deps.db.asSystem(async (tx) => {
    const email = given.email ?? `${randomHex(6)}@example.com`;
    const user = await accounts.users.create(tx, { verified: true, ...given, email });
    if (user === null) throw new Error(`${email} is taken`);
    const {
      cookie: { name, value },
    } = await accounts.sessions.signIn(tx, user.id, 'password', {
      ip: '127.0.0.1',
      userAgent: undefined,
    });
    return { id: user.id, email, headers: { cookie: `${name}=${value}` } };
  });
}

/** Gives a user an authenticator app; the answer is a recovery code. */
export function addAuthenticator({ accounts, deps }: TestWeb, user: { id: string; email: string }): Promise<string> {
  return deps.db.asSystem(async (tx) => {
    const { id, uri } = await accounts.factors.startTotp(tx, user, 'Phone');
    assert.ok(uri.startsWith('otpauth://totp/'));
    await tx.updateTable('second_factors').set({ confirmed_at: deps.clock() }).where('id', '=', id).execute();
    return (await accounts.factors.makeRecoveryCodes(tx, user.id))[0]!;
  });
}
