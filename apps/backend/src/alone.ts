import { openRuntime } from '@troupe/db';
import { localUrl, VERSION, type Life, type Settings } from '@troupe/kernel';
import { createBackend } from './app.ts';

/** In a file of its own: a process that only starts others need not load all of it. */
export async function startBackend(settings: Settings, { own, fail }: Life): Promise<void> {
  const runtime = own(await openRuntime(settings, 'backend', { onLost: fail }));
  const url = settings.BACKEND_URL ?? localUrl(settings, settings.BACKEND_PORT);
  const backend = own(await createBackend({ ...runtime, version: VERSION, url }));
  await runtime.jobs.start();
  const address = await backend.server.listen(settings.BACKEND_PORT, 'BACKEND_PORT');
  runtime.log.info({ address }, 'ready');
}
