import { openRuntime } from '@troupe/db';
import { localUrl, VERSION, type Life, type Settings } from '@troupe/kernel';
import { createWeb } from './app.ts';

/** In a file of its own: a process that only starts others need not load all of it. */
export async function startWeb(settings: Settings, { own, fail }: Life): Promise<void> {
  const runtime = own(await openRuntime(settings, 'web', { onLost: fail }));
  const web = own(
    await createWeb({
      ...runtime,
      version: VERSION,
      url: settings.BASE_URL ?? localUrl(settings, settings.WEB_PORT),
      backendUrl: settings.BACKEND_URL ?? localUrl(settings, settings.BACKEND_PORT),
    }),
  );
  await runtime.jobs.start();
  const address = await web.server.listen(settings.WEB_PORT, 'WEB_PORT');
  runtime.log.info({ address }, 'ready');
}
