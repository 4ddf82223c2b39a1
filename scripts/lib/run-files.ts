import { readFileSync } from 'node:fs';
import { run } from 'node:test';
import { secondsOfChildren, watchCores } from './machine-time.ts';
import report from './reporter.ts';
import type { Plan, Planned } from './test-plan.ts';
import { asOne, inLanes, type Job, type TestEvent } from './test-runs.ts';

/**
 * Runs test files in the order in which they are planned, which `node --test` would not keep; one report for all.
 * Argument: the file of the plan.
 */
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Plan;
/** Seconds of processor time by file. */
const costs = new Map<string, number>();
let spent = 0;

/** What ended since the last look is this one's: seldom do two end at once. */
function count(name: string): void {
  const now = secondsOfChildren() ?? 0;
  costs.set(name, (costs.get(name) ?? 0) + now - spent);
  spent = now;
}

const jobOf = ({ file, name, kind }: Planned): Job => ({
  file,
  kind,
  async *begin() {
    yield* run({ files: [file], concurrency: 1, timeout: plan.timeoutMs }) as AsyncIterable<TestEvent>;
    count(name);
  },
});

const hasFailed = ({ type, data }: TestEvent): boolean =>
  type === 'test:fail' && data.todo === undefined && data.skip === undefined;

/**
 * Who measures how long others wait is tried beside other files first, by his bound as it stands. Whoever fails there is
 * tried again when all others have ended, and that counts.
 */
async function* allFiles(): AsyncGenerator<TestEvent> {
  const again: Planned[] = [];
  const ended = ({ file }: Job, events: readonly TestEvent[]): boolean => {
    const { alone, ...planned } = plan.first.find((one) => one.file === file)!;
    if (alone === undefined || !events.some(hasFailed)) return false;
    again.push({ ...planned, file: alone });
    return true;
  };
  const lanes = { least: plan.lanes, most: 2 * plan.lanes, idle: watchCores(), ended };
  yield* inLanes(plan.first.map(jobOf), lanes);
  for (const { name } of again) yield said(`${name} failed beside others: it was tried again alone`);
  yield* inLanes([...again, ...plan.last].map(jobOf), { least: 1 });
}

const said = (message: string): TestEvent => ({ type: 'test:diagnostic', data: { nesting: 0, message } });

async function* events(): AsyncGenerator<TestEvent> {
  for await (const event of asOne([allFiles()])) {
    if (hasFailed(event)) process.exitCode = 1;
    yield event;
  }
}

for await (const text of report(events(), costs)) process.stdout.write(text);
