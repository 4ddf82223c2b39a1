import { readSettings, runUntilSignal, withEnvFile } from '@troupe/kernel';
import { banner } from './banner.ts';
import { tidyMemory } from './memory.ts';
import { startPlatform } from './platform.ts';

const TIDY_MS = 1000;

/** The embedded profile, which `npm start` runs. */
await runUntilSignal(async (life) => {
  const settings = readSettings(withEnvFile(process.env));
  const addresses = await startPlatform({ settings, life, step });
  // since the process began, so that loading the code counts too
  console.log(banner(addresses, performance.now() / 1000));
  setTimeout(tidyMemory, TIDY_MS).unref();
});

async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`  ${title} … ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}
