import { createBackend } from '@troupe/backend';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '../database/runtime.ts';
import { closeAll, type Counters, type Env, type Server } from '@troupe/kernel';
import { createWeb } from '@troupe/web';
import { quickPasswords } from './passwords.ts';

export { addUser, type TestUser } from './users.ts';

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
  const web = await createWeb({ ...deps, url: 'http://127.0.0.1:3000', backendUrl, passwords: quickPasswords() });
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
