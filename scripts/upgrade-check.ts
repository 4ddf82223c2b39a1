import { checkUpgrade } from '@troupe/db';
import { readSettings, StartError, withEnvFile } from '@troupe/kernel';
import { reachDatabase } from './lib/database.ts';

/** `npm run upgrade:check`: whether processes can be exchanged for this version one by one. 0: yes, 1: not, or no answer. */
async function check(): Promise<boolean> {
  const database = await reachDatabase(readSettings(withEnvFile(process.env)));
  try {
    const { facts, obstacles } = await checkUpgrade(database.url);
    for (const line of facts) console.log(line);
    for (const line of obstacles) console.log(line);
    if (obstacles.length === 0) console.log('This update can roll: exchange one process after the other.');
    return obstacles.length === 0;
  } finally {
    await database.stop();
  }
}

try {
  if (!(await check())) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
