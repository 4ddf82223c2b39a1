import { parseArgs } from 'node:util';
import { readSettings, runUntilSignal, withEnvFile } from '@troupe/kernel';
import { banner } from './banner.ts';
import { startPlatform } from './platform.ts';

/** The embedded profile, which `npm start` runs. */
await runUntilSignal(async (life) => {
  const settings = readSettings(withEnvFile(process.env));
  // web waits, and then the backend and the summarizer, which have what it asked of them under way
  life.grace(2 * settings.STOP_WAIT_SECONDS);
  // by scripts/start.sh, which names the file
  const { watched } = parseArgs({ options: { watched: { type: 'string' } }, strict: false }).values;
  const addresses = await startPlatform({ settings, life, step, ...(typeof watched === 'string' && { watched }) });
  // since the process began, so that loading the code counts too
  console.log(banner(addresses, performance.now() / 1000));
});

async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`  ${title} … ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}
