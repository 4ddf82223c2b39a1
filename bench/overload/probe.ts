import { setTimeout as delay } from 'node:timers/promises';

/** Asks for the health of services for a while, from a process that does nothing else; prints the milliseconds it took. */

const [ms = '0', ...services] = process.argv.slice(2);
const PAUSE_MS = 20;
const end = performance.now() + Number(ms);

/** Over a connection of its own, as who watches over services asks. */
async function isWell(service: string): Promise<boolean> {
  try {
    const answer = await fetch(`${service}/health`, { headers: { connection: 'close' } });
    await answer.text();
    return answer.status === 200;
  } catch (error) {
    console.error(`no answer of ${service}/health: ${String((error as Error).cause ?? error)}`);
    return false;
  }
}

async function timesOf(service: string): Promise<number[]> {
  const times: number[] = [];
  while (performance.now() < end) {
    const began = performance.now();
    // One that is refused or broken off counts as one that never came.
    times.push((await isWell(service)) ? performance.now() - began : 60_000);
    await delay(PAUSE_MS);
  }
  return times;
}
console.log(JSON.stringify(await Promise.all(services.map(timesOf))));
