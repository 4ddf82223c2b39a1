import { EventEmitter, once } from 'node:events';
import type { Jobs } from '@troupe/db';

/** What became of the jobs that a process sent: so that a test waits for them instead of for a time. */

interface Spy {
  /** Sent and not run yet, by id: the queue. */
  waiting: Map<string, string>;
  /** Queues that this process works on; others' jobs are run elsewhere, or not at all. */
  worked: Set<string>;
  events: EventEmitter;
}

const spies = new WeakMap<Jobs, Spy>();

/** The same jobs, watched: see `allJobsRan`. */
export function spyOnJobs(jobs: Jobs): Jobs {
  const spy: Spy = { waiting: new Map(), worked: new Set(), events: new EventEmitter() };
  // One that is sent outside of a transaction may have run before its sender hears of it.
  const ran = new Set<string>();
  const spied: Jobs = {
    ...jobs,
    work(job, handler, options) {
      spy.worked.add(job.queue);
      const watched: typeof handler = async (data, context) => {
        try {
          await handler(data, context);
        } finally {
          ran.add(context.id);
          spy.waiting.delete(context.id);
          spy.events.emit('ran');
        }
      };
      jobs.work(job, watched, options);
    },
    async drop(tx, job, which) {
      const gone = await jobs.drop(tx, job, which);
      for (const id of gone) spy.waiting.delete(id);
      spy.events.emit('ran');
      return gone;
    },
    async send(tx, job, data, options) {
      const id = await jobs.send(tx, job, data, options);
      if (id !== null && options?.startAfter === undefined && !ran.has(id)) spy.waiting.set(id, job.queue);
      return id;
    },
  };
  spies.set(spied, spy);
  return spied;
}

const LONGEST_MS = 60_000;

/**
 * Settles when every job that was sent for now, those that jobs have sent among them, has run: for the first time, when
 * it failed and is tried again. One that waits for a time of its own is not waited for.
 */
export async function allJobsRan(jobs: Jobs): Promise<void> {
  const spy = spies.get(jobs);
  if (!spy) throw new Error('nobody watches these jobs: spyOnJobs');
  const left = (): string[] => [...spy.waiting.values()].filter((queue) => spy.worked.has(queue));
  const signal = AbortSignal.timeout(LONGEST_MS);
  while (left().length > 0)
    await once(spy.events, 'ran', { signal }).catch((cause: unknown) => {
      throw new Error(`these jobs were sent and did not run: ${left().join(', ')}`, { cause });
    });
}
