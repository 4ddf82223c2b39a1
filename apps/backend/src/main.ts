import { openRuntime } from '@troupe/db';
import { closeAll, readSettings, runUntilSignal, VERSION } from '@troupe/kernel';
import { createBackend } from './app.ts';

/** Backend alone: the production profile, against a PostgreSQL that all processes share. */
await runUntilSignal(async () => {
  const settings = readSettings(process.env);
  const runtime = await openRuntime(settings, 'backend');
  const local = (port: number) => `http://127.0.0.1:${port}`;
  const backend = await createBackend({
    ...runtime,
    version: VERSION,
    url: settings.BACKEND_URL ?? local(settings.BACKEND_PORT),
  });
  const address = await backend.server.listen(settings.BACKEND_PORT, 'BACKEND_PORT');
  runtime.log.info({ address }, 'ready');
  return { close: () => closeAll([runtime, backend]) };
});
