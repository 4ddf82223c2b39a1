import { readSettings, withEnvFile } from '@troupe/kernel';
import { backUp } from './lib/archive.ts';
import { command } from './lib/command.ts';

/** `npm run backup FILE`: everything that lasts, in one archive; also while the platform runs. `-`: to standard output. */
await command(async ([file]) => {
  const { rows, containers } = await backUp(readSettings(withEnvFile(process.env)), file);
  const kept = containers
    ? `, the files beside them, and the data of ${containers.saved.length} agents in containers`
    : ' and the files beside them';
  console.error(`Backed up: ${rows} rows${kept}.`);
  if (containers && containers.none.length > 0)
    console.error(`The container engine has no data of ${containers.none.join(', ')}.`);
});
