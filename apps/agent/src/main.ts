import { mkdir } from 'node:fs/promises';
import { createLog, runUntilSignal, StartError } from '@troupe/kernel';
import { startAgent } from './app.ts';
import { startData } from './data.ts';
import { holdData } from './holding.ts';
import { readAgentSettings, readDataSettings } from './settings.ts';

/** Ended by somebody else's start: whoever watches this program need not start it again. */
const LOST = 71;

await runUntilSignal(async ({ own, fail }) => {
  const data = readDataSettings(process.env);
  if (data) {
    const log = createLog({ level: data.LOG_LEVEL, service: 'agent' });
    const { url } = own(await startData({ settings: data, log }));
    return log.info({ url }, 'ready');
  }
  const settings = readAgentSettings(process.env);
  const log = createLog({ level: settings.LOG_LEVEL, service: 'agent' });
  if (settings.DATA_SHARED === 'on') {
    const { DATA_DIR: folder, DATA_PLACE: place } = settings;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const onClaimed = () => fail(new StartError('Another program was started on the same data: it goes on there.'));
    own(await holdData({ folder, place, log, onClaimed, onLost: () => process.exit(LOST) }));
  }
  const { url } = own(await startAgent({ settings, log }));
  log.info({ agentId: settings.AGENT_ID, url }, 'ready');
});
