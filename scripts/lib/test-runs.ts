/** Several runs of Node's tests, told as one. */

export interface TestEvent {
  type: string;
  data: {
    name?: string;
    nesting?: number;
    file?: string;
    message?: string;
    details?: { duration_ms?: number };
    todo?: string | boolean;
    skip?: string | boolean;
  };
}

/** A line of the summary that closes a run: `tests 12`, `duration_ms 34.5`. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d+(?:\.\d+)?)$/;

/** One run after the other; of their summaries one is left, at the end, with the sums. */
export async function* inTurn(runs: readonly (() => AsyncIterable<TestEvent>)[]): AsyncGenerator<TestEvent> {
  const counts = new Map<string, { event: TestEvent; sum: number }>();
  let closing: TestEvent | undefined;
  for (const begin of runs) {
    for await (const event of begin()) {
      const { file, nesting, message } = event.data;
      const [, name, count] =
        (event.type === 'test:diagnostic' && nesting === 0 && COUNT.exec(message ?? '')) ||
        ([] as (string | undefined)[]);
      if (name !== undefined) counts.set(name, { event, sum: (counts.get(name)?.sum ?? 0) + Number(count) });
      else if (event.type === 'test:summary' && file === undefined) closing = event;
      else yield event;
    }
  }
  for (const [name, { event, sum }] of counts) yield { ...event, data: { ...event.data, message: `${name} ${sum}` } };
  if (closing) yield closing;
}
