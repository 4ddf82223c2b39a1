import {
  createLog,
  localUrl,
  memoryCounters,
  randomHex,
  redisCounters,
  systemClock,
  type Life,
  type Settings,
} from '@troupe/kernel';
import { createSummarizer } from './app.ts';

/** In a file of its own: a process that only starts others need not load all of it. */
export async function startSummarizer(settings: Settings, { own }: Life): Promise<void> {
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
}
