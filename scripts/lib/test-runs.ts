/** Several runs of Node's tests, told as one. */

export interface TestEvent {
  type: string;
  data: {
    name?: string;
    nesting?: number;
    file?: string;
    /** The file that was run: a suite may have been begun by one that it imports. */
    ran?: string;
    message?: string;
    details?: { duration_ms?: number };
    todo?: string | boolean;
    skip?: string | boolean;
  };
}

/** A line of the summary that closes a run: `tests 12`, `duration_ms 34.5`. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d+(?:\.\d+)?)$/;

/** One file of tests for a process of its own. */
export interface Job {
  file: string;
  /** What it needs so much of that two of a kind would be slow beside each other. */
  kind?: string | undefined;
  begin: () => AsyncIterable<TestEvent>;
}

export interface Lanes {
  /** So many at once in any case. */
  least: number;
  /** And so many while a core has nothing to do: some files only wait. */
  most?: number;
  /** Cores that nobody used since this was last asked. */
  idle?: () => number;
  /** How often that is asked. */
  everyMs?: number;
  /** What came of a file, before it is told: true keeps it back. */
  ended?: (job: Job, events: readonly TestEvent[]) => boolean;
}

/** What is running, and what has ended and not been told yet. */
interface Under {
  job: Job;
  ended: Promise<{ under: Under; events: TestEvent[] }>;
}

async function allOf(events: AsyncIterable<TestEvent>): Promise<TestEvent[]> {
  const all: TestEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const LOOK_MS = 2_000;
/** Less would be used up by what runs already. */
const ROOM = 0.6;
const MOST_OF_A_KIND = 2;

/**
 * As many at once as there are lanes, in their order, and of each kind one at a time, two while a core is idle. What a
 * file says is told as a whole when it has ended.
 */
export async function* inLanes(
  jobs: readonly Job[],
  { least, most = least, idle = () => 0, everyMs = LOOK_MS, ended = () => false }: Lanes,
): AsyncGenerator<TestEvent> {
  const waiting = [...jobs];
  const running = new Set<Under>();
  const begin = (job: Job) => {
    const under = { job } as Under;
    under.ended = allOf(job.begin()).then((events) => ({ under, events }));
    running.add(under);
  };
  const beginNext = (mayBegin: (job: Job) => boolean): boolean => {
    const next = waiting.findIndex(mayBegin);
    if (next !== -1) begin(...(waiting.splice(next, 1) as [Job]));
    return next !== -1;
  };
  const fewerThan =
    (bound: number) =>
    ({ kind }: Job): boolean =>
      kind === undefined || [...running].filter(({ job }) => job.kind === kind).length < bound;
  let looked = performance.now();
  for (;;) {
    while (running.size < least && beginNext(fewerThan(1)));
    if (running.size === 0) return;
    const mayHaveRoom = running.size < most && waiting.length > 0;
    // whatever ends meanwhile: where files are short, nobody would look
    const leftMs = Math.max(0, looked + everyMs - performance.now());
    const first = await firstOf([...running], mayHaveRoom ? leftMs : undefined);
    if (first === undefined) {
      looked = performance.now();
      if (idle() >= ROOM && !beginNext(fewerThan(1))) beginNext(fewerThan(MOST_OF_A_KIND));
      continue;
    }
    running.delete(first.under);
    if (ended(first.under.job, first.events)) continue;
    for (const event of first.events) yield { ...event, data: { ...event.data, ran: first.under.job.file } };
  }
}

/** The first that ends, or nothing when it is time to look. */
async function firstOf(
  running: readonly Under[],
  ms: number | undefined,
): Promise<Awaited<Under['ended']> | undefined> {
  const look = Promise.withResolvers<undefined>();
  const timer = ms === undefined ? undefined : setTimeout(() => look.resolve(undefined), ms);
  try {
    return await Promise.race([...running.map(({ ended }) => ended), look.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One after the other, each a run of its own; of their summaries one is left, at the end, with the sums. */
export async function* asOne(runs: readonly AsyncIterable<TestEvent>[]): AsyncGenerator<TestEvent> {
  const began = performance.now();
  const counts = new Map<string, { event: TestEvent; sum: number }>();
  let closing: TestEvent | undefined;
  for (const run of runs) {
    for await (const event of run) {
      const { file, nesting, message } = event.data;
      const [, name, count] =
        (event.type === 'test:diagnostic' && nesting === 0 && COUNT.exec(message ?? '')) ||
        ([] as (string | undefined)[]);
      if (name !== undefined) counts.set(name, { event, sum: (counts.get(name)?.sum ?? 0) + Number(count) });
      else if (event.type === 'test:summary' && file === undefined) closing = event;
      else yield event;
    }
  }
  for (const [name, { event, sum }] of counts) {
    const value = name === 'duration_ms' ? performance.now() - began : sum;
    yield { ...event, data: { ...event.data, message: `${name} ${value}` } };
  }
  if (closing) yield closing;
}
