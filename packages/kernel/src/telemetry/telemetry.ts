import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import { traceRequest, type Resource, type Span } from './otlp.ts';

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

const MOST_WAITING = 4096;
const AT_ONCE = 512;
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
  let waiting: Span[] = [];
  let lost = 0;
  let isTold = false;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  async function sendAll(signal: AbortSignal): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, AT_ONCE);
      waiting = waiting.slice(AT_ONCE);
      const failure = await send(traceRequest(resource, spans), signal);
      if (failure === undefined) {
        isTold = false;
        continue;
      }
      lost += spans.length;
      // once until it works again: an outage is one message, not one a batch
      if (!isTold) log.warn({ endpoint, failure }, 'spans could not be delivered');
      isTold = true;
    }
  }

  function flush(): void {
    timer = undefined;
    sending = sending.then(() => sendAll(closing.signal));
  }

  return {
    on: true,
    lost: () => lost,
    add(span) {
      if (waiting.length >= MOST_WAITING) return void (lost += 1);
      waiting.push(span);
      timer ??= setTimeout(flush, everyMs).unref();
    },
    async close() {
      clearTimeout(timer);
      const late = setTimeout(() => closing.abort(), CLOSE_MS);
      flush();
      await sending;
      clearTimeout(late);
    },
  };
}

/** Answers why it did not work, if it did not; tries again where the protocol says so. */
function sender(url: string, headers: Record<string, string>) {
  return async (body: Buffer, signal: AbortSignal): Promise<string | undefined> => {
    for (let attempt = 1; ; attempt += 1) {
      let failure: string;
      let wait = 2 ** attempt;
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/x-protobuf' },
          body: new Uint8Array(body),
          redirect: 'error',
          signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]),
        });
        await answer.body?.cancel();
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
