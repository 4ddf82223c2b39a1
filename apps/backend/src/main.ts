import { readSettings, runUntilSignal, startProcesses, startsOthers, withEnvFile } from '@troupe/kernel';

/** Backend alone: the production profile, against a PostgreSQL that all processes share. */
await runUntilSignal(async (life) => {
  const settings = readSettings(withEnvFile(process.env));
  life.grace(settings.STOP_WAIT_SECONDS);
  if (startsOthers(settings)) life.own(await startProcesses(settings, 'backend', 'BACKEND_PORT'));
  else await (await import('./alone.ts')).startBackend(settings, life);
});
