import { readSettings, withEnvFile } from '@troupe/kernel';
import { restore } from './lib/archive.ts';
import { command } from './lib/command.ts';

/** `npm run restore FILE`: puts a backup back where there is nothing yet. `-`: from standard input. */
await command(async ([file]) => {
  const { about, rows } = await restore(readSettings(withEnvFile(process.env)), file);
  console.error(
    `Restored what Troupe ${about.version} had on ${about.madeAt}: ${rows} rows and the files beside them.`,
  );
});
