import { testRuntime } from '@troupe/db';
import type { Env } from '@troupe/kernel';
import { createWeb, type Web, type WebDeps } from './app.ts';

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
