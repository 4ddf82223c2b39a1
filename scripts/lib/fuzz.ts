import { fuzz } from '../../tests/fuzz/run.ts';
import { Stop } from './step.mjs';

/** Prints the seed, so that the same requests can be had again, and what was wrong. Returns the exit code. */
export async function runFuzz(args: readonly string[]): Promise<number> {
  const [requests = 5000, seed = Date.now() % 2 ** 31, only] = args.map(Number);
  if (![requests, seed, only ?? 0].every(Number.isSafeInteger) || requests < 1)
    throw new Stop('How many requests? `npm run fuzz -- N [seed [number of one request]]`');
  console.log(`seed ${seed}: again with \`npm run fuzz -- ${requests} ${seed}\``);
  const result = await fuzz({ requests, seed, say: console.log, ...(only !== undefined && { only }) });
  const { sent, seconds, statuses, grownMb, failures } = result;
  for (const failure of failures) console.error(failure);
  console.log(
    `${sent} requests in ${seconds.toFixed(0)} s, ${failures.length} failures, ${Math.round(grownMb)} MB grown, ${JSON.stringify(statuses)}`,
  );
  return failures.length === 0 ? 0 : 1;
}
