import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '@troupe/agent';
import { newId } from '@troupe/kernel';
import type { ChannelDeps, ChannelKind, ChannelStatus } from './channel.ts';
import { inWords, TokenRefused, Trouble } from './errors.ts';
import { lookingAlone, type Place } from './shares.ts';

/**
 * Listens at a service, in one process at a time: whoever holds the channel's lease. Another takes over when it ends or
 * dies. Failures are waited out, longer each time, and told to the owner; a refused token is final.
 */

const LEASE_MS = 30_000;
/** How often whoever does not hold it, and is told by nobody, looks whether it is free. */
const LOOK_MS = 5_000;
const MAX_WAIT_MS = 60_000;

export interface Listening {
  stop: () => Promise<void>;
}

/** Whoever has the lease of this session of a channel listens at it. */
export const LISTENER = 'listener';

const later = (signal: AbortSignal): Promise<void> => delay(LOOK_MS, undefined, { signal }).catch(() => undefined);

type Listen = (signal: AbortSignal, up: () => void) => Promise<void>;

/** Notes how a channel is when that changes; what is new and bad goes to the agent's log, too. */
export function createStatus(kind: ChannelKind, { agent, log }: Pick<ChannelDeps, 'agent' | 'log'>) {
  let last = '';
  return async (state: ChannelStatus['state'], error?: string): Promise<void> => {
    const now = `${state} ${error ?? ''}`;
    if (now === last) return;
    last = now;
    const status: ChannelStatus = { state, ...(error !== undefined && { error }), at: new Date().toISOString() };
    try {
      if (error !== undefined) await agent.store.log({ level: 'error', message: error, source: kind });
      await agent.store.changeChannelState(kind, (kept) => ({ ...kept, status }));
    } catch (err) {
      // The agent may be deleted at any moment.
      last = '';
      log.warn({ err, agentId: agent.id, channel: kind }, 'how a channel is was not noted');
    }
  };
}

class Listener implements Listening {
  readonly #kind: ChannelKind;
  readonly #agent: ChannelDeps['agent'];
  readonly #log: ChannelDeps['log'];
  readonly #retryMs: number;
  readonly #listen: Listen;
  readonly #noted: () => ReturnType<typeof createStatus>;
  #status: ReturnType<typeof createStatus>;
  readonly #place: Place;
  readonly #owner = newId();
  readonly #over = new AbortController();
  readonly #lease: Lease;
  // Nobody awaits it before `stop`, so nothing may get out of it: the agent may be deleted at any moment.
  readonly #running: Promise<void>;

  constructor(kind: ChannelKind, deps: ChannelDeps, listen: Listen) {
    const { agent, log, retryMs = 1000, place = lookingAlone(later) } = deps;
    this.#kind = kind;
    this.#agent = agent;
    this.#log = log;
    this.#retryMs = retryMs;
    this.#listen = listen;
    this.#noted = () => createStatus(kind, deps);
    this.#status = this.#noted();
    this.#place = place;
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
    const leave = this.#place.hold(() => lost.abort());
    // Another may have noted something since it was held here last.
    this.#status = this.#noted();
    const signal = AbortSignal.any([this.#over.signal, lost.signal]);
    let wait = this.#retryMs;
    try {
      while (!signal.aborted) {
        const began = Date.now();
        try {
          await this.#listen(signal, () => void this.#status('listening'));
          await delay(this.#retryMs, undefined, { signal });
        } catch (err) {
          if (signal.aborted) return;
          if (err instanceof TokenRefused) throw err;
          this.#log.warn({ err, agentId: this.#agent.id, channel: this.#kind }, 'channel failed, trying again');
          await this.#status('failed', inWords(err));
          wait = Date.now() - began > MAX_WAIT_MS ? this.#retryMs : Math.min(wait * 2, MAX_WAIT_MS);
          const asked = err instanceof Trouble ? (err.waitMs ?? wait) : wait;
          await delay(asked, undefined, { signal }).catch(() => undefined);
        }
      }
    } finally {
      clearInterval(timer);
      await this.#agent.store.release(sessionId, this.#owner).finally(leave);
    }
  }

  async #takeTurn(): Promise<void> {
    await this.#place.turn(this.#over.signal);
    if (this.#over.signal.aborted) return;
    // A session without events, made anew each time: a reset of the agent takes it away.
    const made = await this.#agent.store.deliver({ to: { channel: this.#kind, key: LISTENER }, events: [] });
    const sessionId = made?.session.id ?? '';
    if (await this.#agent.store.claim(sessionId, this.#lease)) await this.#holding(sessionId);
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
        if (err instanceof TokenRefused) {
          this.#log.error({ err, agentId: this.#agent.id, channel: this.#kind }, 'channel stopped');
          return this.#status('refused', err.message);
        }
        this.#log.warn(
          { err, agentId: this.#agent.id, channel: this.#kind },
          'a channel’s place could not be kept, trying again',
        );
        await delay(wait, undefined, { signal: this.#over.signal }).catch(() => undefined);
        wait = Math.min(wait * 2, MAX_WAIT_MS);
      }
    }
  }
}

export const keepListening = (kind: ChannelKind, deps: ChannelDeps, listen: Listen): Listening =>
  new Listener(kind, deps, listen);
