import { createDatabase, dataDirOf, reachEmbedded } from '@troupe/db';
import { readSettings, silentLog, StartError, withEnvFile } from '@troupe/kernel';
import { verifyLedger } from '@troupe/ledger';

/** `npm run ledger:verify`: every invariant of the money, on DATABASE_URL or the embedded database. */

async function reach(): Promise<{ url: string; stop: () => Promise<void> }> {
  const settings = readSettings(withEnvFile(process.env));
  if (settings.DATABASE_URL !== undefined) return { url: settings.DATABASE_URL, stop: async () => {} };
  const explicit = settings.DATA_DIR !== undefined;
  return reachEmbedded({ dataDir: dataDirOf(settings), explicit, log: silentLog });
}

async function verify(): Promise<boolean> {
  const database = await reach();
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
