import { createAccounts, ensureOwner } from '@troupe/accounts';
import { checkUpgrade, openRuntime } from '@troupe/db';
import { localUrl, readSettings, StartError, withEnvFile, type Settings } from '@troupe/kernel';

/**
 * `node scripts/start.mjs setup`: brings the database of DATABASE_URL up to date, makes the owner of a new one, and ends.
 * For those who start services alone. An update that cannot roll changes nothing, and ends with a sentence.
 */
async function setUp(settings: Settings): Promise<string[]> {
  const direct = settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL;
  if (direct !== undefined) {
    const { obstacles } = await checkUpgrade(direct);
    if (obstacles.length > 0) throw new StartError(obstacles.join('\n'));
  }
  const runtime = await openRuntime(settings, 'setup');
  const url = settings.BASE_URL ?? localUrl(settings, settings.WEB_PORT);
  const accounts = createAccounts({ ...runtime, url, jobs: undefined });
  try {
    const owner = await ensureOwner({ db: runtime.db, accounts, settings });
    if (!owner) return ['The database is up to date.'];
    return [
      `The database is set up. Sign in at ${url}/login. This password is shown only now:`,
      `  E-mail         ${owner.email}`,
      `  Password       ${owner.password}`,
    ];
  } finally {
    await accounts.close();
    await runtime.close();
  }
}

try {
  for (const line of await setUp(readSettings(withEnvFile(process.env)))) console.log(line);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
