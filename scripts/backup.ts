import { readSettings, withEnvFile } from '@troupe/kernel';
import { backUp } from './lib/archive.ts';
import { command } from './lib/command.ts';

/** `npm run backup FILE`: everything that lasts, in one archive; also while the platform runs. `-`: to standard output. */
await command(async ([file]) => {
  const rows = await backUp(readSettings(withEnvFile(process.env)), file);
  console.error(`Backed up: ${rows} rows and the files beside them.`);
});
