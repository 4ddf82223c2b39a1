import { faultRounds, type Round } from '../../tests/faults/rounds/run.ts';
import { Stop } from './step.mjs';

/** Prints each round, then a table by kind of fault, as docs/reliability.md has it. Returns the exit code. */
export async function runFaults(args: readonly string[]): Promise<number> {
  const [rounds = 20, seed = Date.now() % 2 ** 31] = args.map(Number);
  if (![rounds, seed].every(Number.isSafeInteger) || rounds < 1)
    throw new Stop('How many rounds? `npm run faults -- N [seed]`');
  console.log(`seed ${seed}: again with \`npm run faults -- ${rounds} ${seed}\``);
  const found = await faultRounds({ rounds, seed, say: console.log });
  console.log(`\n${table(found)}`);
  const wrong = found.filter((round) => round.wrong.length > 0).length;
  console.log(`\n${found.length} rounds, ${wrong} of them not as they should be`);
  return wrong === 0 ? 0 : 1;
}

function table(rounds: readonly Round[]): string {
  const kinds = Object.entries(Object.groupBy(rounds, ({ fault }) => fault));
  const rows = kinds.map(([fault, found = []]) => {
    const sum = (of: (round: Round) => number) => found.reduce((total, round) => total + of(round), 0);
    const [asked, answered] = [sum((round) => round.asked), sum((round) => round.answered)];
    const lost = sum((round) => round.wrong.filter((line) => line.includes('there')).length);
    return `| ${fault} | ${found.length} | ${asked} | ${((answered / asked) * 100).toFixed(1)} % | ${lost} |`;
  });
  return `| Fault | Rounds | Writes | Answered | Lost or doubled |\n|---|---|---|---|---|\n${rows.join('\n')}`;
}
