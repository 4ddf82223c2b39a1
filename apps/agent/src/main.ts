import { createLog, runUntilSignal } from '@troupe/kernel';
import { startAgent } from './app.ts';
import { startData } from './data.ts';
import { readAgentSettings, readDataSettings } from './settings.ts';

await runUntilSignal(async ({ own }) => {
  const data = readDataSettings(process.env);
  if (data) {
    const log = createLog({ level: data.LOG_LEVEL, service: 'agent' });
    const { url } = own(await startData({ settings: data, log }));
    return log.info({ url }, 'ready');
  }
  const settings = readAgentSettings(process.env);
  const log = createLog({ level: settings.LOG_LEVEL, service: 'agent' });
  const { url } = own(await startAgent({ settings, log }));
  log.info({ agentId: settings.AGENT_ID, url }, 'ready');
});
