import { setTimeout as delay } from 'node:timers/promises';
import { addUser, startServices } from '@troupe/testing/services/services';
import type { Ready } from './streams.ts';

const services = await startServices();
const keys: string[] = [];
for (let n = 0; n < Number(process.argv[2]); n += 1)
  keys.push((await addUser(services.runtime, { plan: 'network' })).key);

/** After what is over has been let go of. */
async function held(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    await delay(200);
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

process.on('message', (word) => {
  void (async () => {
    if (word === 'where') process.send?.({ web: services.web, keys } satisfies Ready);
    else process.send?.(await held());
  })();
});
process.once('SIGTERM', () => void services.stop().then(() => process.exit(0)));
