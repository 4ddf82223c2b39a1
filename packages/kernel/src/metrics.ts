import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FAULT_KINDS, FAULTS, type FaultKind } from './faults.ts';

/** Prometheus text, made by hand: three kinds of metric are all that is needed. */

type Labels = Record<string, string>;

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  /** Answers what adds one to the counter of these labels; kept by the caller, so that the labels are read once. */
  counter: (name: string, help: string, labels: Labels) => () => void;
  histogram: (name: string, help: string, labels: Labels) => (seconds: number) => void;
  /** Read when the text is asked for. */
  gauge: (name: string, help: string, read: () => number) => void;
  text: () => string;
  close: () => void;
}

interface Histogram {
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
    const value = labels[name]!;
    text += `${text === '' ? '' : ','}${name}="${SPECIAL.test(value) ? escaped(value) : value}"`;
  }
  return text;
}

const withLabels = (name: string, labels: string): string => (labels === '' ? name : `${name}{${labels}}`);

export function createMetrics(): Metrics {
  const help = new Map<string, { text: string; type: string }>();
  const counters = new Map<string, Map<string, { count: number }>>();
  const histograms = new Map<string, Map<string, Histogram>>();
  const gauges = new Map<string, () => number>();
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();

  function series<T>(all: Map<string, Map<string, T>>, name: string, text: string, type: string): Map<string, T> {
    const found = all.get(name);
    if (found) return found;
    const made = new Map<string, T>();
    all.set(name, made);
    help.set(name, { text, type });
    return made;
  }

  const metrics: Metrics = {
    counter(name, text, labels) {
      const values = series(counters, name, text, 'counter');
      const key = labelText(labels);
      const counter = values.get(key) ?? { count: 0 };
      values.set(key, counter);
      return () => {
        counter.count += 1;
      };
    },
    histogram(name, text, labels) {
      const values = series(histograms, name, text, 'histogram');
      const key = labelText(labels);
      const histogram = values.get(key) ?? { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      values.set(key, histogram);
      return (seconds) => {
        histogram.sum += seconds;
        histogram.count += 1;
        const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
        if (bucket >= 0) histogram.buckets[bucket]! += 1;
      };
    },
    gauge(name, text, read) {
      help.set(name, { text, type: 'gauge' });
      gauges.set(name, read);
    },
    text() {
      const lines: string[] = [];
      const head = (name: string) => {
        const { text, type } = help.get(name)!;
        lines.push(`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`);
      };
      for (const [name, values] of counters) {
        head(name);
        for (const [labels, { count }] of values) lines.push(`${withLabels(name, labels)} ${count}`);
      }
      for (const [name, values] of histograms) {
        head(name);
        for (const [labels, histogram] of values) lines.push(...histogramLines(name, labels, histogram));
      }
      for (const [name, read] of gauges) {
        head(name);
        lines.push(`${name} ${read()}`);
      }
      return `${lines.join('\n')}\n`;
    },
    close() {
      loop.disable();
      unsubscribe(FAULTS, onFault);
    },
  };
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
  return metrics;
}

function histogramLines(name: string, labels: string, { buckets, sum, count }: Histogram): string[] {
  let total = 0;
  const bound = (le: string, value: number) =>
    `${withLabels(`${name}_bucket`, [labels, `le="${le}"`].filter(Boolean).join(','))} ${value}`;
  return [
    ...buckets.map((value, index) => bound(String(BUCKETS[index]), (total += value))),
    bound('+Inf', count),
    `${withLabels(`${name}_sum`, labels)} ${sum}`,
    `${withLabels(`${name}_count`, labels)} ${count}`,
  ];
}
