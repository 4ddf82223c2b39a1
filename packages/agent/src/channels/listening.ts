import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import type { Lease } from '../store/store.ts';
import { TokenRefused, type ChannelDeps, type ChannelKind } from './channel.ts';

/**
 * Listens at a service, in one process at a time: whoever holds the channel's lease. Another takes over when it ends or
 * dies. Failures are waited out, longer each time; a refused token is final.
 */

const LEASE_MS = 30_000;
const MAX_WAIT_MS = 60_000;

export interface Listening {
  stop: () => Promise<void>;
}

type Listen = (signal: AbortSignal) => Promise<void>;

class Listener implements Listening {
  readonly #kind: ChannelKind;
  readonly #agent: ChannelDeps['agent'];
  readonly #log: ChannelDeps['log'];
  readonly #retryMs: number;
  readonly #listen: Listen;
  readonly #owner = newId();
  readonly #over = new AbortController();
  readonly #lease: Lease;
  // Nobody awaits it before `stop`, so nothing may get out of it: the agent may be deleted at any moment.
  readonly #running: Promise<void>;

  constructor(kind: ChannelKind, { agent, log, retryMs = 1000 }: ChannelDeps, listen: Listen) {
    this.#kind = kind;
    this.#agent = agent;
    this.#log = log;
    this.#retryMs = retryMs;
    this.#listen = listen;
    this.#lease = { owner: this.#owner, ttlMs: LEASE_MS };
    this.#running = this.#run().catch((err: unknown) =>
      log.error({ err, agentId: agent.id, channel: kind }, 'the end of a channel was not noted'),
    );
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #holding(sessionId: string): Promise<void> {
    const lost = new AbortController();
    const renew = async (): Promise<void> => {
      const held = await this.#agent.store.renew(sessionId, this.#lease).catch(() => undefined);
      if (held && !held.held) lost.abort();
    };
    const timer = setInterval(() => void renew(), LEASE_MS / 3);
    const signal = AbortSignal.any([this.#over.signal, lost.signal]);
    let wait = this.#retryMs;
    try {
      while (!signal.aborted) {
        const began = Date.now();
        try {
          await this.#listen(signal);
          await delay(this.#retryMs, undefined, { signal });
        } catch (err) {
          if (signal.aborted) return;
          if (err instanceof TokenRefused) throw err;
          this.#log.warn({ err, agentId: this.#agent.id, channel: this.#kind }, 'channel failed, trying again');
          wait = Date.now() - began > MAX_WAIT_MS ? this.#retryMs : Math.min(wait * 2, MAX_WAIT_MS);
          await delay(wait, undefined, { signal }).catch(() => undefined);
        }
      }
    } finally {
      clearInterval(timer);
      await this.#agent.store.release(sessionId, this.#owner);
    }
  }

  async #takeTurn(): Promise<void> {
    // A session without events, made anew each time: a reset of the agent takes it away.
    const made = await this.#agent.store.deliver({ to: { channel: this.#kind, key: 'listener' }, events: [] });
    const sessionId = made?.session.id ?? '';
    if (await this.#agent.store.claim(sessionId, this.#lease)) await this.#holding(sessionId);
    else await delay(LEASE_MS / 3, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }

  /** Ends when it is told to, or with a refused token. What the store fails at is waited out too. */
  async #run(): Promise<void> {
    let wait = this.#retryMs;
    while (!this.#over.signal.aborted) {
      try {
        await this.#takeTurn();
        wait = this.#retryMs;
      } catch (err) {
        if (this.#over.signal.aborted) return;
        if (err instanceof TokenRefused) return this.#refused(err);
        this.#log.warn(
          { err, agentId: this.#agent.id, channel: this.#kind },
          'a channel’s place could not be kept, trying again',
        );
        await delay(wait, undefined, { signal: this.#over.signal }).catch(() => undefined);
        wait = Math.min(wait * 2, MAX_WAIT_MS);
      }
    }
  }

  async #refused(err: TokenRefused): Promise<void> {
    this.#log.error({ err, agentId: this.#agent.id, channel: this.#kind }, 'channel stopped');
    await this.#agent.store.log({
      level: 'error',
      message: 'The service refused the channel’s token.',
      source: this.#kind,
    });
  }
}

export const keepListening = (kind: ChannelKind, deps: ChannelDeps, listen: Listen): Listening =>
  new Listener(kind, deps, listen);
