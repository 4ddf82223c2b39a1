import { readSettings, runUntilSignal, startProcesses, startsOthers, withEnvFile } from '@troupe/kernel';

/** The summarizer alone. It needs no database. */
await runUntilSignal(async (life) => {
  const settings = readSettings(withEnvFile(process.env));
  life.grace(settings.STOP_WAIT_SECONDS);
  if (startsOthers(settings)) life.own(await startProcesses(settings, 'summarizer', 'SUMMARIZER_PORT'));
  else await (await import('./alone.ts')).startSummarizer(settings, life);
});
