import {
  createLog,
  localUrl,
  memoryCounters,
  randomHex,
  readSettings,
  redisCounters,
  runUntilSignal,
  systemClock,
  withEnvFile,
} from '@troupe/kernel';
import { createSummarizer } from './app.ts';

/** The summarizer alone. It needs no database. */
await runUntilSignal(async ({ own, grace }) => {
  const settings = readSettings(withEnvFile(process.env));
  grace(settings.STOP_WAIT_SECONDS);
  const log = createLog({ level: settings.LOG_LEVEL, service: 'summarizer' });
  const counters = own(
    settings.REDIS_URL ? await redisCounters(settings.REDIS_URL, log, systemClock) : memoryCounters(systemClock),
  );
  const server = own(
    createSummarizer({
      settings,
      log,
      counters,
      // No endpoint here asks for a session; nothing is signed with this.
      secrets: { internalKey: settings.INTERNAL_API_KEY, sessionSecret: settings.SESSION_SECRET ?? randomHex(32) },
      url: settings.SUMMARIZER_URL ?? localUrl(settings, settings.SUMMARIZER_PORT),
    }),
  );
  const address = await server.listen(settings.SUMMARIZER_PORT, 'SUMMARIZER_PORT');
  log.info({ address }, 'ready');
});
