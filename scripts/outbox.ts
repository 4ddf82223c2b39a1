import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase } from '@troupe/db';
import { readSettings, silentLog, withEnvFile } from '@troupe/kernel';
import { command } from './lib/command.ts';
import { reachDatabase } from './lib/database.ts';

/** `npm run outbox FOLDER`: writes the mails that are kept in the database, for want of a mail server, into a folder. */
await command(async ([folder]) => {
  const { url, stop } = await reachDatabase(readSettings(withEnvFile(process.env)));
  const db = createDatabase({ url, log: silentLog });
  try {
    const mails = await db.system.selectFrom('outbox_mails').selectAll().orderBy('created_at').execute();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const { id, created_at: at, message } of mails)
      await writeFile(path.join(folder, `${at.toISOString().replaceAll(':', '-')}-${id}.eml`), message, {
        mode: 0o600,
      });
    console.error(`${mails.length} mails are in ${folder}.`);
  } finally {
    await db.close();
    await stop();
  }
});
