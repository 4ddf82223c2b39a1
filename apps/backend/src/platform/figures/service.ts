import type { Database, Jobs } from '@troupe/db';
import type { Metrics } from '@troupe/kernel';
import { countWork, type Work } from './store.ts';

const WORK: Record<keyof Work, string> = {
  tasks_due: 'Scheduled tasks whose time has come and that nobody has begun',
  task_lag_seconds: 'How long the oldest of them has been due',
  task_runs_under_way: 'Scheduled tasks that are being worked on',
  runs_open: 'Conversations that an agent works on',
  leases_held: 'Of these, those that a process which lives works on; the others are taken up within seconds',
  followers: 'Conversations that somebody reads along in, for each process once',
  blob_bytes: 'What files of agents, backups and mails take in the database; objects elsewhere are not counted',
  webhook_deliveries_pending: 'Events that are still to be delivered to webhooks',
};
const JOBS = {
  jobs_waiting: 'Jobs that could be done now, as of the last look of the job runner',
  jobs_dead: 'Jobs that have failed for good',
};

export type FiguresService = ReturnType<typeof createFigures>;

/** What all processes together have to do, beside the figures of this one. */
export function createFigures({ db, jobs }: { db: Database; jobs: Jobs }) {
  return {
    tellBy(metrics: Metrics): void {
      metrics.gauges(WORK, () => countWork(db));
      metrics.gauges(JOBS, async () => {
        const { waiting, dead } = await jobs.count();
        return { jobs_waiting: waiting, jobs_dead: dead };
      });
    },
  };
}
