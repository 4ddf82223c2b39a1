import { soak, type Sample } from '../../tests/faults/rounds/soak.ts';
import { Stop } from './step.mjs';

/** Prints a line for each twelfth of the time, and what grew. Returns the exit code. */
export async function runSoak(args: readonly string[]): Promise<number> {
  const [minutes = 30] = args.map(Number);
  if (!(minutes > 0)) throw new Stop('How many minutes? `npm run soak -- N`');
  let first = true;
  const say = (sample: Sample): void => {
    if (first) console.log(`| ${Object.keys(sample).join(' | ')} |\n|${'---|'.repeat(Object.keys(sample).length)}`);
    first = false;
    console.log(
      `| ${Object.values(sample)
        .map((value) => (value < 10 ? value.toFixed(1) : value.toFixed(0)))
        .join(' | ')} |`,
    );
  };
  const { wrong } = await soak({ minutes, say });
  for (const line of wrong) console.error(line);
  console.log(
    wrong.length === 0 ? '\nNothing grew, and nothing was lost or doubled.' : `\n${wrong.length} things wrong`,
  );
  return wrong.length === 0 ? 0 : 1;
}
