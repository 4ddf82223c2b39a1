import { createLog, memoryCounters, randomHex, readSettings, StartError, systemClock } from '@troupe/kernel';
import { createSummarizer } from './app.ts';

/** The summarizer as a program of its own. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = createLog({ level: settings.LOG_LEVEL, service: 'summarizer' });
  const server = createSummarizer({
    settings,
    log,
    counters: memoryCounters(systemClock),
    // No endpoint here asks for a session; nothing is signed with this.
    secrets: { internalKey: settings.INTERNAL_API_KEY, sessionSecret: settings.SESSION_SECRET ?? randomHex(32) },
    url: settings.SUMMARIZER_URL ?? `http://${settings.HOST}:${settings.SUMMARIZER_PORT}`,
  });
  const address = await server.listen(settings.SUMMARIZER_PORT, 'SUMMARIZER_PORT');
  log.info({ address }, 'listening');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close());
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
