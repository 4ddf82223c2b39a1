import { openRuntime } from '@troupe/db';
import { localUrl, readSettings, runUntilSignal, VERSION, withEnvFile } from '@troupe/kernel';
import { createWeb } from './app.ts';

/** Web alone: the production profile, against a PostgreSQL that all processes share. */
await runUntilSignal(async ({ own, grace, fail }) => {
  const settings = readSettings(withEnvFile(process.env));
  grace(settings.STOP_WAIT_SECONDS);
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
});
