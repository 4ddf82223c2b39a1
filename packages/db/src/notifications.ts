import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sql } from 'kysely';
import type { Signal } from '@troupe/contract';
import type { Log } from '@troupe/kernel';
import { Misfit } from './misfit.ts';
import type { SystemTx, UserTx } from './scopes.ts';

/** Tells all processes of the platform that something happened; they hear it when the transaction commits. */
export async function notify<Payload>(
  tx: UserTx | SystemTx,
  signal: Signal<Payload>,
  payload: NoInfer<Payload>,
): Promise<void> {
  const text = signal.as === 'text' ? String(payload) : JSON.stringify(payload);
  await sql`select pg_notify(${signal.channel}, ${text})`.execute(tx);
}

export interface Listener {
  /** Answers a function that stops listening. What does not fit the signal is logged and not heard. */
  on: <Payload>(signal: Signal<Payload>, heard: (payload: Payload) => void) => () => void;
  close: () => Promise<void>;
}

const RETRY_MS = 1000;

/** Nobody's mistake here may reach the connection that everybody listens on. */
const reader =
  <Payload>(log: Log, { channel, payload, as }: Signal<Payload>, tell: (payload: Payload) => void) =>
  (text: string): void => {
    try {
      const read = payload.safeParse(as === 'text' ? text : JSON.parse(text));
      if (!read.success) throw new Misfit(`What was told does not fit ${channel}`, read.error);
      tell(read.data);
    } catch (error) {
      log.error({ err: error, channel }, 'a signal was not heard');
    }
  };

/** One connection that listens for everybody in this process; a broken one is replaced. What was told meanwhile is not heard. */
export function createListener({ url, log }: { url: string; log: Log }): Listener {
  const heard = new Map<string, Set<(text: string) => void>>();
  const stop = new AbortController();
  let client: pg.Client | undefined;
  let asked: Promise<unknown> = Promise.resolve();

  /** One after the other: a connection has one query at a time. */
  function listen(to: pg.Client, channel: string): Promise<unknown> {
    const listening = asked.then(() => to.query(`listen ${pg.escapeIdentifier(channel)}`));
    asked = listening.catch(() => {});
    return listening;
  }

  async function connect(): Promise<void> {
    const fresh = new pg.Client({ connectionString: url, application_name: 'troupe-listener', keepAlive: true });
    const ended = new Promise<void>((resolve) => {
      fresh.on('error', (err) => log.warn({ err }, 'the listening connection broke'));
      fresh.on('end', () => resolve());
    });
    fresh.on('notification', ({ channel, payload = '' }) => {
      for (const tell of heard.get(channel) ?? []) tell(payload);
    });
    await fresh.connect();
    // Closed while it connected: nobody else knows of it yet.
    if (stop.signal.aborted) return fresh.end();
    client = fresh;
    for (const channel of heard.keys()) await listen(fresh, channel);
    await ended;
  }

  async function keepConnected(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        log.warn({ err: error }, 'cannot listen for notifications');
      }
      client = undefined;
      if (!stop.signal.aborted) await delay(RETRY_MS);
    }
  }
  let running: Promise<void> | undefined;

  return {
    on(signal, told) {
      const { channel } = signal;
      const tell = reader(log, signal, told);
      const tellers = heard.get(channel);
      if (tellers) tellers.add(tell);
      else {
        heard.set(channel, new Set([tell]));
        if (client) listen(client, channel).catch((error: unknown) => log.warn({ err: error }, 'cannot listen'));
      }
      running ??= keepConnected();
      return () => heard.get(channel)?.delete(tell);
    },
    async close() {
      stop.abort();
      await client?.end();
      await running;
    },
  };
}
