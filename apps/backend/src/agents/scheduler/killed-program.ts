import { createDatabase } from '@troupe/db';
import { silentLog, systemClock } from '@troupe/kernel';
import { createScheduler } from './service.ts';

/** One scheduler process of killed.test.ts: polls without pause and asks the stand-in agent over HTTP. */
const [url = '', agentUrl = ''] = process.argv.slice(2);

const scheduler = createScheduler({
  db: createDatabase({ url, log: silentLog, poolSize: 4 }),
  log: silentLog,
  clock: systemClock,
  pollMs: 5,
  requestMs: 500,
  wake: {
    async execute(_agent, task, signal) {
      const response = await fetch(agentUrl, {
        method: 'POST',
        body: task.id,
        headers: { 'x-run': task.runId },
        signal,
      });
      return response.text();
    },
    heartbeat: async () => {},
  },
});
scheduler.start();
