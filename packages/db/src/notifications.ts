import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { sql } from 'kysely';
import type { Signal } from '@troupe/contract';
import type { Log } from '@troupe/kernel';
import { Misfit } from './misfit.ts';
import { connectionTo, type ConnectionTo } from './primary.ts';
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
  on: <Payload>(signal: Signal<Payload>, heard: (payload: Payload) => void, line?: LineWatch) => () => void;
  close: () => Promise<void>;
}

/** For whoever must know what was told while nobody listened. */
export interface LineWatch {
  /** From now on everything is heard; what was told before may not have been. */
  up: () => void;
  down: () => void;
}

interface Hearer {
  tell: (text: string) => void;
  line: LineWatch | undefined;
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
class SignalListener implements Listener {
  readonly #to: ConnectionTo;
  readonly #log: Log;
  readonly #heard = new Map<string, Set<Hearer>>();
  /** Channels that are listened to on this connection. */
  readonly #listening = new Set<string>();
  readonly #stop = new AbortController();
  #client: pg.Client | undefined;
  #asked: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | undefined;

  constructor({ url, log }: { url: string; log: Log }) {
    this.#to = connectionTo(url);
    this.#log = log;
  }

  on<Payload>(signal: Signal<Payload>, told: (payload: Payload) => void, line?: LineWatch): () => void {
    const { channel } = signal;
    const hearer: Hearer = { tell: reader(this.#log, signal, told), line };
    const hearers = this.#heard.get(channel);
    if (hearers) {
      hearers.add(hearer);
      if (line && this.#listening.has(channel)) line.up();
    } else {
      this.#heard.set(channel, new Set([hearer]));
      if (this.#client)
        this.#listen(this.#client, channel).catch((error: unknown) => this.#log.warn({ err: error }, 'cannot listen'));
    }
    this.#running ??= this.#keepConnected();
    return () => void this.#heard.get(channel)?.delete(hearer);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#client?.end();
    await this.#running;
  }

  /** One after the other: a connection has one query at a time. */
  #listen(to: pg.Client, channel: string): Promise<unknown> {
    const listening = this.#asked.then(async () => {
      await to.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (this.#client !== to) return;
      this.#listening.add(channel);
      for (const { line } of this.#heard.get(channel) ?? []) line?.up();
    });
    this.#asked = listening.catch(() => {});
    return listening;
  }

  async #connect(): Promise<void> {
    const fresh = new pg.Client({ ...this.#to, application_name: 'troupe-listener', keepAlive: true });
    const ended = new Promise<void>((resolve) => {
      fresh.on('error', (err) => this.#log.warn({ err }, 'the listening connection broke'));
      fresh.on('end', () => resolve());
    });
    fresh.on('notification', ({ channel, payload = '' }) => {
      for (const { tell } of this.#heard.get(channel) ?? []) tell(payload);
    });
    await fresh.connect();
    // Closed while it connected: nobody else knows of it yet.
    if (this.#stop.signal.aborted) return fresh.end();
    this.#client = fresh;
    for (const channel of this.#heard.keys()) await this.#listen(fresh, channel);
    await ended;
  }

  #down(): void {
    this.#client = undefined;
    for (const channel of this.#listening) for (const { line } of this.#heard.get(channel) ?? []) line?.down();
    this.#listening.clear();
  }

  async #keepConnected(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#connect();
      } catch (error) {
        this.#log.warn({ err: error }, 'cannot listen for notifications');
      }
      this.#down();
      if (!this.#stop.signal.aborted) await delay(RETRY_MS);
    }
  }
}

export const createListener = (options: { url: string; log: Log }): Listener => new SignalListener(options);
