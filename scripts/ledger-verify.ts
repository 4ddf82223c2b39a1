import { createDatabase } from '@troupe/db';
import { readSettings, silentLog, StartError, withEnvFile } from '@troupe/kernel';
import { verifyLedger } from '@troupe/ledger';
import { reachDatabase } from './lib/database.ts';

/** `npm run ledger:verify`: every invariant of the money, on DATABASE_URL or the embedded database. */

async function verify(): Promise<boolean> {
  const database = await reachDatabase(readSettings(withEnvFile(process.env)));
  const db = createDatabase({ url: database.url, log: silentLog, poolSize: 2 });
  try {
    // One snapshot: payments that happen meanwhile must not look like errors.
    const verdicts = await db.asSystem(verifyLedger, { isolation: 'repeatable read' });
    for (const { invariant, broken } of verdicts) {
      console.log(`${broken.length === 0 ? 'holds ' : 'BROKEN'}  ${invariant}`);
      for (const { what, found } of broken) console.log(`        ${what}: ${found}`);
    }
    return verdicts.every(({ broken }) => broken.length === 0);
  } finally {
    await db.close();
    await database.stop();
  }
}

try {
  if (!(await verify())) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
