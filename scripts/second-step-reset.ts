import { createAccounts } from '@troupe/accounts';
import { createDatabase } from '@troupe/db';
import { readSettings, silentLog, StartError, withEnvFile } from '@troupe/kernel';
import { reachDatabase } from './lib/database.ts';

/** `npm run second-step:reset EMAIL`: for an owner who is locked out. On DATABASE_URL or the embedded database. */

async function reset(email: string): Promise<string> {
  const settings = readSettings(withEnvFile(process.env));
  const database = await reachDatabase(settings);
  const db = createDatabase({ url: database.url, log: silentLog, poolSize: 2 });
  const url = 'http://localhost';
  // Nothing sealed is opened here.
  const secrets = { walletKey: 'unused' };
  const accounts = createAccounts({ db, settings, secrets, clock: () => new Date(), log: silentLog, url });
  try {
    return await db.asSystem(async (tx) => {
      const user = await accounts.users.byEmail(tx, email);
      if (!user) throw new StartError(`Nobody has the address ${email}.`);
      if ((await accounts.factors.removeAll(tx, user.id)) === 0) return `${email} has no second factor.`;
      await accounts.audit(tx, { userId: user.id, action: 'factors-reset', detail: { by: 'second-step:reset' } });
      return `The second factors and recovery codes of ${email} are removed. The password alone opens the account now.`;
    });
  } finally {
    await accounts.close();
    await db.close();
    await database.stop();
  }
}

const [email] = process.argv.slice(2);
try {
  if (email === undefined) throw new StartError('Say whose: npm run second-step:reset EMAIL');
  console.log(await reset(email));
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
