import { createLog, runUntilSignal } from '@troupe/kernel';
import { startAgent } from './app.ts';
import { readAgentSettings } from './settings.ts';

await runUntilSignal(async ({ own }) => {
  const settings = readAgentSettings(process.env);
  const log = createLog({ level: settings.LOG_LEVEL, service: 'agent' });
  const { url } = own(await startAgent({ settings, log }));
  log.info({ agentId: settings.AGENT_ID, url }, 'ready');
});
