import { workOn } from './loop.ts';
import { Interrupted, type RunDeps } from './run.ts';
import type { Claimed } from '../store/store.ts';

/** The sessions that this process is working on, their leases and their ends. */

export interface Worker {
  readonly owner: string;
  readonly leaseMs: number;
  /** Works on a claimed session. Settles when the session rests; rejects when the work broke off. */
  start: (claimed: Claimed, recovers?: boolean) => Promise<void>;
  /** Stops what the session is doing at this moment; its log says why. */
  interrupt: (sessionId: string) => void;
  busy: () => number;
  /** Lets tools finish for a moment, then stops; unfinished runs go on wherever the agent wakes next. */
  stop: () => Promise<void>;
}

interface Job {
  abort: AbortController;
  done: Promise<void>;
}

const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
const GRACE_MS = 5_000;

export function createWorker(deps: RunDeps, owner: string, { leaseMs = LEASE_MS, renewMs = RENEW_MS } = {}): Worker {
  const jobs = new Map<string, Job>();
  const halt = new AbortController();

  /** Keeps the lease, and notices from afar that the session was cancelled or taken over. */
  function keepLease({ session }: Claimed, abort: AbortController): () => void {
    let seen = session.lastSeq;
    const timer = setInterval(() => void renew(), renewMs);
    async function renew(): Promise<void> {
      try {
        const { held, lastSeq } = await deps.store.renew(session.id, { owner, ttlMs: leaseMs });
        if (!held) return abort.abort(new Interrupted('lost'));
        const news = lastSeq > seen ? await deps.store.events(session.id, { after: seen, limit: 100 }) : [];
        seen = news.at(-1)?.seq ?? seen;
        if (news.some(({ type }) => type === 'cancel_requested')) abort.abort();
      } catch (error) {
        deps.log.warn({ err: error, sessionId: session.id }, 'lease could not be renewed');
      }
    }
    return () => clearInterval(timer);
  }

  async function run(claimed: Claimed, abort: AbortController, recovers: boolean): Promise<void> {
    const letGo = keepLease(claimed, abort);
    const sessionId = claimed.session.id;
    try {
      await workOn(deps, claimed, { owner, recovers, signal: abort.signal, halt: halt.signal });
    } catch (error) {
      if (error instanceof Interrupted && error.why === 'lost') throw error;
      await deps.store.release(sessionId, owner);
      throw error;
    } finally {
      letGo();
      jobs.delete(sessionId);
    }
  }

  return {
    owner,
    leaseMs,
    start(claimed, recovers = false) {
      const abort = new AbortController();
      const done = run(claimed, abort, recovers);
      jobs.set(claimed.session.id, { abort, done });
      return done;
    },
    interrupt: (sessionId) => jobs.get(sessionId)?.abort.abort(),
    busy: () => jobs.size,
    async stop() {
      halt.abort();
      const open = [...jobs.values()];
      const settled = Promise.allSettled(open.map(({ done }) => done));
      const timer = setTimeout(() => open.forEach(({ abort }) => abort.abort(new Interrupted('asleep'))), GRACE_MS);
      await settled;
      clearTimeout(timer);
    },
  };
}
