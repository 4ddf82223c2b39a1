import { readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { secondsOfChildren, watchCores, watchWork } from './machine-time.ts';
import report from './reporter.ts';
import { MEASURES, type Plan, type Planned, type Took } from './test-plan.ts';
import { asOne, inLanes, type Job, type Lanes, type TestEvent } from './test-runs.ts';
import { endTree, untilSilent } from './silence.ts';

/**
 * Runs test files in the order in which they are planned, which `node --test` would not keep; one report for all.
 * Argument: the file of the plan.
 */
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Plan;
/** Seconds of processor time by file. */
const costs = new Map<string, number>();
const took: Took[] = [...plan.took];
const isMany = plan.first.length + plan.last.length > 1;
const worked = watchWork();
let spent = 0;

/** What ended since the last look is this one's: seldom do two end at once. */
function count(name: string): void {
  const now = secondsOfChildren() ?? 0;
  costs.set(name, (costs.get(name) ?? 0) + now - spent);
  spent = now;
}

const beside = (name: string): string[] => ['--import', new URL(name, import.meta.url).href];
const execArgv = (kind: Planned['kind']): string[] => [
  ...beside('test-resolves.ts'),
  ...beside('test-contexts.ts'),
  ...(isMany && kind !== MEASURES ? beside('test-yields.ts') : []),
];

const jobOf = ({ file, name, kind, silentMs }: Planned): Job => ({
  file,
  kind,
  async *begin() {
    const over = new AbortController();
    const { signal } = over;
    const events = run({
      files: [file],
      execArgv: execArgv(kind),
      concurrency: 1,
      timeout: plan.timeoutMs,
      signal,
    }) as AsyncIterable<TestEvent>;
    let why = '';
    const end = () => {
      why = `${name}: said nothing for ${Math.round(silentMs / 1000)} s and was ended`;
      endTree(file);
      over.abort();
    };
    for await (const event of untilSilent(events, silentMs, end))
      yield why !== '' && isOfFile(event) ? { ...event, data: { ...event.data, name: why } } : event;
    count(name);
  },
});

/** What is told of a file as a whole. */
const isOfFile = ({ data: { nesting, name, file } }: TestEvent): boolean =>
  nesting === 0 && name !== undefined && file !== undefined && path.resolve(name) === path.resolve(file);

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
  const lanes = { least: plan.lanes, most: 3 * plan.lanes, idle: watchCores(), ended };
  yield* timed('files beside each other', plan.first.map(jobOf), lanes);
  for (const { name } of again) yield said(`${name} failed beside others: it was tried again alone`);
  yield* timed('files alone', [...again, ...plan.last].map(jobOf), { least: 1 });
}

async function* timed(what: string, jobs: readonly Job[], lanes: Lanes): AsyncGenerator<TestEvent> {
  const began = performance.now();
  yield* inLanes(jobs, lanes);
  if (jobs.length > 0) took.push([`${what} (${jobs.length})`, performance.now() - began]);
}

const said = (message: string): TestEvent => ({ type: 'test:diagnostic', data: { nesting: 0, message } });

async function* events(): AsyncGenerator<TestEvent> {
  for await (const event of asOne([allFiles()])) {
    if (hasFailed(event)) process.exitCode = 1;
    yield event;
  }
}

for await (const text of report(events(), { costs, worked, took: isMany ? took : [] })) process.stdout.write(text);
