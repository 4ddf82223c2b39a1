import { setTimeout as delay } from 'node:timers/promises';

/** Asks for the health of services for a while, from a process that does nothing else; prints the milliseconds it took. */

const [ms = '0', ...services] = process.argv.slice(2);
const PAUSE_MS = 20;
const end = performance.now() + Number(ms);

async function timesOf(service: string): Promise<number[]> {
  const times: number[] = [];
  while (performance.now() < end) {
    const began = performance.now();
    const answer = await fetch(`${service}/health`);
    await answer.text();
    // One that is refused counts as one that never came.
    times.push(answer.status === 200 ? performance.now() - began : 60_000);
    await delay(PAUSE_MS);
  }
  return times;
}
console.log(JSON.stringify(await Promise.all(services.map(timesOf))));
