import { openRuntime } from '@troupe/db';
import { closeAll, readSettings, runUntilSignal, VERSION } from '@troupe/kernel';
import { createWeb } from './app.ts';

/** Web alone: the production profile, against a PostgreSQL that all processes share. */
await runUntilSignal(async () => {
  const settings = readSettings(process.env);
  const runtime = await openRuntime(settings, 'web');
  const local = (port: number) => `http://127.0.0.1:${port}`;
  const web = await createWeb({
    ...runtime,
    version: VERSION,
    url: settings.BASE_URL ?? local(settings.WEB_PORT),
    backendUrl: settings.BACKEND_URL ?? local(settings.BACKEND_PORT),
  });
  const address = await web.server.listen(settings.WEB_PORT, 'WEB_PORT');
  runtime.log.info({ address }, 'ready');
  return { close: () => closeAll([runtime, web]) };
});
