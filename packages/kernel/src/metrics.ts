import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FAULT_KINDS, FAULTS, type FaultKind } from './faults.ts';

/** Prometheus text, made by hand: three kinds of metric are all that is needed. */

type Labels = Record<string, string>;

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Of calls to models, and of agents' work, as OpenTelemetry proposes. */
export const LONG_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** Models and tools are named by users, too: whoever names thousands must not fill the memory of who collects them. */
const MOST_SERIES = 1000;
const MOST_LETTERS = 200;
const GAUGES_MS = 2000;

export interface Metrics {
  /** Answers what adds to the counter of these labels; kept by the caller, so that the labels are read once. */
  counter: (name: string, help: string, labels: Labels) => (by?: number) => void;
  histogram: (name: string, help: string, labels: Labels, buckets?: readonly number[]) => (seconds: number) => void;
  /** Read when the text is asked for. */
  gauge: (name: string, help: string, read: () => number) => void;
  /** Figures that are found together, by name; what cannot be read in time is left out, and counted. */
  gauges: (help: Readonly<Record<string, string>>, read: () => Promise<Readonly<Record<string, number>>>) => void;
  text: () => Promise<string>;
  close: () => void;
}

interface Histogram {
  bounds: readonly number[];
  buckets: number[];
  sum: number;
  count: number;
}

const SPECIAL = /[\\"\n]/;
const escaped = (value: string): string => value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));

/** Runs with every request: no arrays, and a value is rewritten only if it has to be. */
function labelText(labels: Labels): string {
  let text = '';
  for (const name of Object.keys(labels)) {
    const value = labels[name]!.length > MOST_LETTERS ? labels[name]!.slice(0, MOST_LETTERS) : labels[name]!;
    text += `${text === '' ? '' : ','}${name}="${SPECIAL.test(value) ? escaped(value) : value}"`;
  }
  return text;
}

const withLabels = (name: string, labels: string): string => (labels === '' ? name : `${name}{${labels}}`);
const head = (name: string, help: string, type: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

/** The series of one kind of metric. */
function createSeries<T>(type: string, lines: (name: string, labels: string, value: T) => string[]) {
  const all = new Map<string, { help: string; values: Map<string, T> }>();
  return {
    of(name: string, help: string, labels: Labels, make: () => T): T {
      const { values } = all.get(name) ?? { values: new Map<string, T>() };
      if (!all.has(name)) all.set(name, { help, values });
      const own = labelText(labels);
      const isFull = !values.has(own) && values.size >= MOST_SERIES;
      const key = isFull ? labelText(Object.fromEntries(Object.keys(labels).map((label) => [label, 'other']))) : own;
      const value = values.get(key) ?? make();
      values.set(key, value);
      return value;
    },
    lines: (): string[] =>
      [...all].flatMap(([name, { help, values }]) => [
        ...head(name, help, type),
        ...[...values].flatMap(([labels, value]) => lines(name, labels, value)),
      ]),
  };
}

export function createMetrics(): Metrics {
  const counters = createSeries<{ count: number }>('counter', (name, labels, { count }) => [
    `${withLabels(name, labels)} ${count}`,
  ]);
  const histograms = createSeries<Histogram>('histogram', histogramLines);
  const unread = (): Record<string, number> => {
    metrics.counter('figures_unread_total', 'Figures that could not be read when they were asked for', {})();
    return {};
  };
  const readers: (() => Promise<string[]>)[] = [];
  const metrics: Metrics = {
    counter(name, help, labels) {
      const counter = counters.of(name, help, labels, () => ({ count: 0 }));
      return (by = 1) => {
        counter.count += by;
      };
    },
    histogram(name, help, labels, bounds = BUCKETS) {
      const made = () => ({ bounds, buckets: bounds.map(() => 0), sum: 0, count: 0 });
      const histogram = histograms.of(name, help, labels, made);
      return (seconds) => {
        histogram.sum += seconds;
        histogram.count += 1;
        const bucket = bounds.findIndex((bound) => seconds <= bound);
        if (bucket >= 0) histogram.buckets[bucket]! += 1;
      };
    },
    gauge(name, help, read) {
      readers.push(async () => [...head(name, help, 'gauge'), `${name} ${read()}`]);
    },
    gauges(help, read) {
      readers.push(async () => {
        const found = await inTime(read()).catch(unread);
        return Object.entries(found).flatMap(([name, value]) => [
          ...head(name, help[name] ?? name, 'gauge'),
          `${name} ${value}`,
        ]);
      });
    },
    async text() {
      const read = await Promise.all(readers.map((reader) => reader()));
      return `${[...counters.lines(), ...histograms.lines(), ...read.flat()].join('\n')}\n`;
    },
    close: () => {},
  };
  metrics.close = addProcess(metrics);
  return metrics;
}

/** Whoever collects must not wait for a database that is away: it is told what is known without. */
async function inTime(reading: Promise<Readonly<Record<string, number>>>): Promise<Readonly<Record<string, number>>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), GAUGES_MS);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What every process tells of itself. Answers how to stop looking. */
function addProcess(metrics: Metrics): () => void {
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  const faulty = new Map(
    FAULT_KINDS.map((kind) => [
      kind,
      metrics.counter('unhandled_faults_total', 'Errors that nobody awaited or caught', { kind }),
    ]),
  );
  const onFault = (kind: unknown): void => faulty.get(kind as FaultKind)?.();
  subscribe(FAULTS, onFault);
  metrics.gauge('event_loop_delay_p99_seconds', 'Event-loop delay, 99th percentile since the last reading', () => {
    const seconds = loop.percentile(99) / 1e9;
    loop.reset();
    return Number.isFinite(seconds) ? seconds : 0;
  });
  metrics.gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  metrics.gauge('process_uptime_seconds', 'Time since the process started', () => process.uptime());
  return () => {
    loop.disable();
    unsubscribe(FAULTS, onFault);
  };
}

function histogramLines(name: string, labels: string, { bounds, buckets, sum, count }: Histogram): string[] {
  let total = 0;
  const bound = (le: string, value: number) =>
    `${withLabels(`${name}_bucket`, [labels, `le="${le}"`].filter(Boolean).join(','))} ${value}`;
  return [
    ...buckets.map((value, index) => bound(String(bounds[index]), (total += value))),
    bound('+Inf', count),
    `${withLabels(`${name}_sum`, labels)} ${sum}`,
    `${withLabels(`${name}_count`, labels)} ${count}`,
  ];
}
