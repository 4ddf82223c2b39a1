import { OLDEST_WITH_BLOBS, twoReleases } from '../../tests/faults/rolling/releases.ts';
import { lineOf, roll } from '../../tests/faults/rolling/roll.ts';
import { Stop } from './step.mjs';

/** Prints a table with a line for each exchange, as docs/reliability.md has it. Returns the exit code. */
export async function runRoll(args: readonly string[]): Promise<number> {
  const [commit = OLDEST_WITH_BLOBS] = args;
  if (args.length > 1 || !/^[0-9a-f]{7,40}$/.test(commit))
    throw new Stop('From which commit? `npm run roll -- COMMIT`');
  const releases = await twoReleases(commit);
  try {
    const { from, to, exchanged, asked, answered, kinds, ran, refused, wrong } = await roll(releases, console.log);
    console.log(`\nFrom ${from} to ${to}:\n`);
    console.log(
      '| Exchanged | Seconds | Requests asked of another by the proxy | Streams resumed |\n|---|---|---|---|',
    );
    for (const one of exchanged) console.log(lineOf(one));
    console.log(`\n${answered} of ${asked} writes answered: ${JSON.stringify(kinds)}; ${ran} due tasks ran`);
    for (const line of refused) console.log(`instead of an answer: ${line}`);
    for (const line of wrong) console.error(line);
    console.log(wrong.length === 0 ? 'Nothing was lost or doubled.' : `${wrong.length} things wrong`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    await releases.remove();
  }
}
