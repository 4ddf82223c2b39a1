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

/**
 * As many at once as there are lanes, in their order, and of each kind one at a time. What a file says is told as a whole
 * when it has ended.
 */
export async function* inLanes(jobs: readonly Job[], lanes: number): AsyncGenerator<TestEvent> {
  const waiting = [...jobs];
  const running = new Set<Under>();
  const begin = (job: Job) => {
    const under = { job } as Under;
    under.ended = allOf(job.begin()).then((events) => ({ under, events }));
    running.add(under);
  };
  const isFree = ({ kind }: Job): boolean => kind === undefined || ![...running].some(({ job }) => job.kind === kind);
  for (;;) {
    while (running.size < lanes) {
      const next = waiting.findIndex(isFree);
      if (next === -1) break;
      begin(...(waiting.splice(next, 1) as [Job]));
    }
    if (running.size === 0) return;
    const { under, events } = await Promise.race([...running].map(({ ended }) => ended));
    running.delete(under);
    for (const event of events) yield { ...event, data: { ...event.data, ran: under.job.file } };
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
