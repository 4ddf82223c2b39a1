/** An entry of the browser's trace; times in microseconds. */
export interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  args?: { name?: string; data?: { score?: number; had_recent_input?: boolean; documentLoaderURL?: string } };
}

const LONG = 50_000;

/** What the figures of a visit are made of: paints and shifts, and the tasks of the page's own main thread. */
export function readTrace(events: TraceEvent[]) {
  const start = events
    .filter(({ name, args }) => name === 'navigationStart' && args?.data?.documentLoaderURL !== '')
    .sort((a, b) => a.ts - b.ts)
    .at(-1);
  const since = (name: string) => {
    const found = events.findLast((event) => event.name === name && start && event.ts >= start.ts);
    return found && start ? (found.ts - start.ts) / 1000 : 0;
  };
  const main = events.find(
    ({ name, args, pid }) => name === 'thread_name' && args?.name === 'CrRendererMain' && (!start || pid === start.pid),
  );
  const tasks = events.filter(({ name, pid, tid }) => name === 'RunTask' && pid === main?.pid && tid === main.tid);
  const lengths = tasks.map(({ dur = 0 }) => dur);
  const paint = events.findLast(({ name }) => name === 'firstContentfulPaint')?.ts ?? 0;
  const blocked = tasks.filter(({ ts }) => ts >= paint).reduce((sum, { dur = 0 }) => sum + Math.max(0, dur - LONG), 0);
  const shift = events
    .filter(({ name, args }) => name === 'LayoutShift' && !args?.data?.had_recent_input)
    .reduce((sum, { args }) => sum + (args?.data?.score ?? 0), 0);
  return {
    fcp: since('firstContentfulPaint'),
    lcp: since('largestContentfulPaint::Candidate') || since('firstContentfulPaint'),
    blocked: blocked / 1000,
    shift,
    longest: Math.max(0, ...lengths) / 1000,
    longestFrame: longestGap(events.filter(({ name }) => name === 'DrawFrame').map(({ ts }) => ts)) / 1000,
  };
}

function longestGap(moments: number[]): number {
  const sorted = moments.toSorted((a, b) => a - b);
  return sorted.reduce((most, at, index) => (index === 0 ? 0 : Math.max(most, at - sorted[index - 1]!)), 0);
}
