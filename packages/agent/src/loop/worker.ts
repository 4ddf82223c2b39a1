import { newId } from '@troupe/kernel';
import { workOn, type Rest } from './loop.ts';
import { Interrupted, type RunDeps } from './run.ts';
import type { Claimed } from '../store/store.ts';
import { createHeld, type Held } from '../tools/tool.ts';

interface Job {
  abort: AbortController;
  done: Promise<Rest>;
}

const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
const GRACE_MS = 5_000;

/** What a process holds of an agent, it holds under one name. */
export const leaseOf = ({ leaseMs = LEASE_MS, renewMs = RENEW_MS }: { leaseMs?: number; renewMs?: number }) => ({
  owner: newId(),
  ttlMs: leaseMs,
  renewMs,
});

/** The sessions of an agent that this process is working on, their leases and their ends. */
export class Worker {
  readonly owner: string;
  readonly leaseMs: number;
  readonly #renewMs: number;
  readonly #deps: RunDeps;
  readonly #jobs = new Map<string, Job>();
  /** By session: what a run holds, also while it waits for somebody. */
  readonly #held = new Map<string, Held>();
  readonly #halt = new AbortController();

  constructor(deps: RunDeps, owner: string, { leaseMs, renewMs }: { leaseMs: number; renewMs: number }) {
    this.owner = owner;
    this.leaseMs = leaseMs;
    this.#renewMs = renewMs;
    this.#deps = deps;
  }

  /** Works on a claimed session. Settles when the session rests; rejects when the work broke off. */
  start(claimed: Claimed, recovers = false): Promise<Rest> {
    const abort = new AbortController();
    const done = this.#run(claimed, abort, recovers);
    this.#jobs.set(claimed.session.id, { abort, done });
    return done;
  }

  /** Stops what the session is doing at this moment; its log says why. */
  interrupt(sessionId: string): void {
    this.#jobs.get(sessionId)?.abort.abort();
  }

  busy(): number {
    return this.#jobs.size;
  }

  /** Lets tools finish for a moment, then stops; unfinished runs go on wherever the agent wakes next. */
  async stop(): Promise<void> {
    this.#halt.abort();
    const open = [...this.#jobs.values()];
    const settled = Promise.allSettled(open.map(({ done }) => done));
    const timer = setTimeout(() => open.forEach(({ abort }) => abort.abort(new Interrupted('asleep'))), GRACE_MS);
    await settled;
    clearTimeout(timer);
    await Promise.all([...this.#held.keys()].map((sessionId) => this.#letGo(sessionId)));
  }

  /** What the run has held ends with it. */
  async #letGo(sessionId: string): Promise<void> {
    const held = this.#held.get(sessionId);
    this.#held.delete(sessionId);
    await held?.drop().catch((err: unknown) => this.#deps.log.warn({ err, sessionId }, 'what a run held did not end'));
  }

  async #run(claimed: Claimed, abort: AbortController, recovers: boolean): Promise<Rest> {
    const letGo = this.#keepLease(claimed, abort);
    const sessionId = claimed.session.id;
    const { owner } = this;
    const held = this.#held.get(sessionId) ?? createHeld();
    this.#held.set(sessionId, held);
    let rest: Rest = 'ended';
    try {
      const control = { owner, recovers, signal: abort.signal, halt: this.#halt.signal, held };
      rest = await workOn(this.#deps, claimed, control);
      return rest;
    } catch (error) {
      if (error instanceof Interrupted && error.why === 'lost') throw error;
      await this.#deps.store.release(sessionId, owner);
      throw error;
    } finally {
      letGo();
      // Whoever came meanwhile may have begun the next run already: that job, and what it holds, are not this one's to end.
      if (this.#jobs.get(sessionId)?.abort === abort) {
        this.#jobs.delete(sessionId);
        if (rest !== 'waits') await this.#letGo(sessionId);
      }
    }
  }

  /** Keeps the lease, and notices from afar that the session was cancelled or taken over. */
  #keepLease({ session }: Claimed, abort: AbortController): () => void {
    const { store, log } = this.#deps;
    const lease = { owner: this.owner, ttlMs: this.leaseMs };
    let seen = session.lastSeq;
    const timer = setInterval(() => void renew(), this.#renewMs);
    async function renew(): Promise<void> {
      try {
        const { held, lastSeq } = await store.renew(session.id, lease);
        if (!held) return abort.abort(new Interrupted('lost'));
        const news = lastSeq > seen ? await store.events(session.id, { after: seen, limit: 100 }) : [];
        seen = news.at(-1)?.seq ?? seen;
        if (news.some(({ type }) => type === 'cancel_requested')) abort.abort();
      } catch (error) {
        log.warn({ err: error, sessionId: session.id }, 'lease could not be renewed');
      }
    }
    return () => clearInterval(timer);
  }
}
