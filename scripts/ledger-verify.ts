import { createDatabase, dataDirOf, isNewCluster, reachEmbedded } from '@troupe/db';
import { readSettings, silentLog, withEnvFile } from '@troupe/kernel';
import { verifyLedger } from '@troupe/ledger';

/** `npm run ledger:verify`: every invariant of the money, on DATABASE_URL or the embedded database. */

const settings = readSettings(withEnvFile(process.env));
if (settings.DATABASE_URL === undefined && (await isNewCluster(dataDirOf(settings)))) {
  console.error(`There is no database in ${dataDirOf(settings)}: set DATA_DIR or DATABASE_URL.`);
  process.exit(1);
}
const database =
  settings.DATABASE_URL === undefined
    ? await reachEmbedded({
        dataDir: dataDirOf(settings),
        explicit: settings.DATA_DIR !== undefined,
        log: silentLog,
      })
    : { url: settings.DATABASE_URL, stop: async () => {} };
const db = createDatabase({ url: database.url, log: silentLog, poolSize: 2 });
try {
  // One snapshot: payments that happen meanwhile must not look like errors.
  const verdicts = await db.asSystem(verifyLedger, { isolation: 'repeatable read' });
  for (const { invariant, broken } of verdicts) {
    console.log(`${broken.length === 0 ? 'holds ' : 'BROKEN'}  ${invariant}`);
    for (const { what, found } of broken) console.log(`        ${what}: ${found}`);
  }
  if (verdicts.some(({ broken }) => broken.length > 0)) process.exitCode = 1;
} finally {
  await db.close();
  await database.stop();
}
