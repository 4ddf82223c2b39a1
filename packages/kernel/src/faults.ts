import { channel } from 'node:diagnostics_channel';
import type { Log } from './log.ts';

/** What went wrong where nobody looked: a promise that nobody awaited, an error that nobody caught. */
export type FaultKind = 'rejection' | 'exception';
export const FAULT_KINDS: readonly FaultKind[] = ['rejection', 'exception'];

/** Faults are of the process, metrics are of its services: each of them listens here. */
export const FAULTS = 'troupe.faults';

const QUIET_MS = 60_000;
const MOST_KNOWN = 1000;
const LONGEST = 4000;

/**
 * Errors of one connection: Node has closed it already, or refused to write to it, before it told us. Nothing that
 * another user has depends on it, and they are the ones that strangers can cause.
 */
const OF_ONE_CONNECTION =
  /^(E(PIPE|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|PROTO)|HPE_\w+|UND_ERR_\w+|WS_ERR_\w+|ERR_(HTTP|HTTP2|STREAM|SOCKET|SSL|TLS|INVALID_CHAR|INVALID_HTTP)\w*)$/;

export interface Faults {
  /** Logs and counts it; says whether the process is none the worse for it. */
  seen: (kind: FaultKind, error: unknown) => boolean;
}

export function createFaults({ log, now = () => performance.now() }: { log: Log; now?: () => number }): Faults {
  const told = channel(FAULTS);
  const last = new Map<string, { at: number; unsaid: number }>();

  /** One line a minute for each kind of fault: who can cause one can cause thousands. */
  function say(kind: FaultKind, error: unknown): void {
    const key = `${kind} ${placeOf(error)}`;
    const known = last.get(key);
    if (known && now() - known.at < QUIET_MS) return void (known.unsaid += 1);
    if (last.size >= MOST_KNOWN) last.clear();
    last.set(key, { at: now(), unsaid: 0 });
    const message = kind === 'rejection' ? 'nobody awaited this' : 'nobody caught this';
    log.error({ ...fieldsOf(error), unsaid: known?.unsaid ?? 0 }, message);
  }

  return {
    seen(kind, error) {
      told.publish(kind);
      say(kind, error);
      const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown };
      return kind === 'rejection' || (typeof code === 'string' && OF_ONE_CONNECTION.test(code));
    },
  };
}

/** Where it was thrown: the message may differ each time, and is anybody's. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frame = (error.stack ?? '').split('\n', 20).find((line) => /^\s+at /.test(line));
  return `${error.name} ${String((error as { code?: unknown }).code ?? '')} ${frame?.trim() ?? ''}`.slice(0, 500);
}

/** Only words that we know: an error may carry a whole request. */
function fieldsOf(error: unknown): object {
  if (!(error instanceof Error)) return { reason: withoutSecrets(String(error)).slice(0, 200) };
  const { name, stack, message } = error;
  const { code } = error as { code?: unknown };
  return { err: { name, message: cut(message), stack: cut(stack ?? ''), ...(typeof code === 'string' && { code }) } };
}

const cut = (text: string): string => withoutSecrets(text.slice(0, LONGEST));

/** Addresses with a password or a token in them, and keys by the look of them. */
function withoutSecrets(text: string): string {
  return text
    .replace(/\/\/[^\s/@]{1,300}@/g, '//[redacted]@')
    .replace(/\bbot\d{1,20}:[\w-]{1,200}/g, 'bot[redacted]')
    .replace(/\b(Bearer|Basic) [\w.~+/=-]{1,2000}/gi, '$1 [redacted]')
    .replace(/\b(token|key|secret|password|signature|code)=[^\s&"']{1,2000}/gi, '$1=[redacted]')
    .replace(/\b(?:sk|pk|rk|ghp|xox[abp])[-_][\w-]{8,500}/g, '[redacted]');
}
