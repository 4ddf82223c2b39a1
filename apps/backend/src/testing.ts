import { testRuntime } from '@troupe/testing/database/runtime';
import type { Env } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { createBackend, type Backend, type BackendDeps } from './app.ts';

export interface TestBackend extends Backend {
  deps: BackendDeps;
  stop: () => Promise<void>;
}

/** A whole backend on an empty database of its own; ask it with `server.app.inject`, or let it listen. */
export async function testBackend({ env, ...given }: Partial<BackendDeps> & { env?: Env } = {}): Promise<TestBackend> {
  const runtime = await testRuntime(env);
  const deps: BackendDeps = { ...runtime, url: 'http://127.0.0.1:3001', version: '0.0.0-test', ...given };
  const backend = await createBackend(deps);
  await deps.jobs.start();
  return {
    ...backend,
    deps,
    async stop() {
      await backend.close();
      await runtime.close();
    },
  };
}

let calls = 0;

/** Asks as web does for that user; each time from another address, because limits have their own tests. */
export const askerFor =
  ({ server }: TestBackend, userId?: string) =>
  async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object) => {
    const response = await server.app.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${TEST_SECRETS.internalKey}`,
        'x-client-ip': `asker-${(calls += 1)}`,
        ...(userId === undefined ? {} : { 'x-user-id': userId, 'x-user-email': `${userId}@example.com` }),
      },
      ...(body === undefined ? {} : { payload: body }),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
    const read = (): any => (response.body.startsWith('{') ? response.json() : response.rawPayload);
    return { status: response.statusCode, body: read() };
  };
