import { openRuntime } from '@troupe/db';
import { localUrl, readSettings, runUntilSignal, VERSION, withEnvFile } from '@troupe/kernel';
import { createBackend } from './app.ts';

/** Backend alone: the production profile, against a PostgreSQL that all processes share. */
await runUntilSignal(async ({ own, grace, fail }) => {
  const settings = readSettings(withEnvFile(process.env));
  grace(settings.STOP_WAIT_SECONDS);
  const runtime = own(await openRuntime(settings, 'backend', { onLost: fail }));
  const backend = own(
    await createBackend({
      ...runtime,
      version: VERSION,
      url: settings.BACKEND_URL ?? localUrl(settings, settings.BACKEND_PORT),
    }),
  );
  await runtime.jobs.start();
  const address = await backend.server.listen(settings.BACKEND_PORT, 'BACKEND_PORT');
  runtime.log.info({ address }, 'ready');
});
