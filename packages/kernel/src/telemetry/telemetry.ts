import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import { SpanBatch, type Resource, type Span } from './otlp.ts';

/** Spans on their way to a collector. They leave beside the work: a collector that is slow or away costs spans, nothing else. */
export interface Telemetry {
  /** Whether anybody collects: who makes spans need not, otherwise. */
  readonly on: boolean;
  /** Never waits and never throws. */
  add: (span: Span) => void;
  /** Spans that were not delivered. */
  lost: () => number;
  /** Sends what is left, for two seconds at most. */
  close: () => Promise<void>;
}

export interface TelemetryOptions {
  settings: Pick<Settings, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_SERVICE_NAME'>;
  service: string;
  version: string;
  log: Log;
  /** How long spans wait for others. */
  everyMs?: number;
}

/** A batch that is as large leaves at once. */
const AT_ONCE = 2048;
const BATCH_BYTES = 1_000_000;
/** Batches that wait for the one before them. */
const MOST_WAITING = 8;
/** Of an answer that nobody reads, so that the connection stays. */
const MOST_ANSWER = 65_536;
const EVERY_MS = 2000;
const SEND_MS = 10_000;
const CLOSE_MS = 2000;
const TRIES = 4;
const RETRY = new Set([429, 502, 503, 504]);
const MAX_WAIT_S = 30;

const OFF: Telemetry = { on: false, add: () => {}, lost: () => 0, close: async () => {} };

/** Exports by OTLP over HTTP as protocol buffers, as OTEL_EXPORTER_OTLP_ENDPOINT says; without it nothing is made. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { settings, service, version, log, everyMs = EVERY_MS } = options;
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return OFF;
  const resource: Resource = {
    attributes: {
      'service.name': settings.OTEL_SERVICE_NAME ?? `troupe-${service}`,
      'service.version': version,
      'service.instance.id': `${process.pid}`,
    },
    scope: { name: 'troupe', version },
  };
  const send = sender(`${endpoint.replace(/\/+$/, '')}/v1/traces`, settings.OTEL_EXPORTER_OTLP_HEADERS);
  const closing = new AbortController();
  const batch = new SpanBatch(resource);
  let waiting = 0;
  let lost = 0;
  let isTold = false;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  async function deliver(body: Uint8Array<ArrayBuffer>, spans: number): Promise<void> {
    const failure = await send(body, closing.signal);
    waiting -= 1;
    if (failure === undefined) return void (isTold = false);
    lost += spans;
    // once until it works again: an outage is one message, not one a batch
    if (!isTold) log.warn({ endpoint, failure }, 'spans could not be delivered');
    isTold = true;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const { spans } = batch;
    if (spans === 0) return;
    const body = batch.take();
    if (waiting >= MOST_WAITING) return void (lost += spans);
    waiting += 1;
    // One after the other, over one connection.
    sending = sending.then(() => deliver(body, spans));
  }

  return {
    on: true,
    lost: () => lost,
    add(span) {
      batch.add(span);
      if (batch.spans >= AT_ONCE || batch.bytes >= BATCH_BYTES) flush();
      else timer ??= setTimeout(flush, everyMs).unref();
    },
    async close() {
      const late = setTimeout(() => closing.abort(), CLOSE_MS);
      flush();
      await sending;
      clearTimeout(late);
    },
  };
}

/** Read to its end where it is short: a connection of which something is left over cannot be used again. */
async function readOut(body: ReadableStream<Uint8Array> | null): Promise<void> {
  if (!body) return;
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MOST_ANSWER) break;
  }
}

/** Answers why it did not work, if it did not; tries again where the protocol says so. */
function sender(url: string, headers: Record<string, string>) {
  return async (body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<string | undefined> => {
    for (let attempt = 1; ; attempt += 1) {
      let failure: string;
      let wait = 2 ** attempt;
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/x-protobuf' },
          body,
          redirect: 'error',
          signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]),
        });
        await readOut(answer.body);
        if (answer.ok) return undefined;
        failure = `${answer.status}`;
        if (!RETRY.has(answer.status)) return failure;
        wait = Number(answer.headers.get('retry-after')) || wait;
      } catch (error) {
        failure = (error as Error).message;
      }
      if (attempt === TRIES || signal.aborted) return failure;
      await delay(Math.min(wait, MAX_WAIT_S) * 1000, undefined, { signal, ref: false }).catch(() => {});
    }
  };
}
