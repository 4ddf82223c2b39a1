import { testRuntime } from '@troupe/testing/database/runtime';
import type { Env } from '@troupe/kernel';
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
