import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { newId } from './ids.ts';

/** Where a piece of work belongs in a trace, as W3C Trace Context says. Ids are hexadecimal. */
export interface Trace {
  traceId: string;
  spanId: string;
  /** What it is a part of. */
  parentSpanId?: string | undefined;
  /** Whoever began the trace wants it recorded. */
  sampled: boolean;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const NOTHING = /^0*$/;

/** A header that is not as it should be is as good as none. */
export function readTraceparent(header: unknown): Trace | undefined {
  const [, traceId = '', spanId = '', flags = ''] = (typeof header === 'string' && TRACEPARENT.exec(header)) || [];
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const traceparentOf = ({ traceId, spanId, sampled }: Trace): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

const current = new AsyncLocalStorage<Trace>();

/** The trace that the work at hand is part of: somebody else's, or a run's. */
export const currentTrace = (): Trace | undefined => current.getStore();

export const withTrace = <T>(trace: Trace | undefined, work: () => T): T =>
  trace === undefined ? work() : current.run(trace, work);

/** A part of it, with an id of its own. */
export const childOf = ({ traceId, spanId, sampled }: Trace): Trace => ({
  traceId,
  spanId: newId(8),
  parentSpanId: spanId,
  sampled,
});

/**
 * A run's own place. It comes from the run's id alone, so that every process that works on the run, before a kill and
 * after it, means the same span; in the trace of whoever asked for it, if there is one.
 */
export function traceOfRun(runId: string, asked?: Trace): Trace {
  const digest = createHash('sha256').update(runId).digest('hex');
  return {
    traceId: asked?.traceId ?? digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    parentSpanId: asked?.spanId,
    sampled: asked?.sampled ?? true,
  };
}
