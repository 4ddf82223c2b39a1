import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from './errors.ts';
import type { Running } from './lifecycle.ts';
import { createLog } from './log.ts';
import { answerForAll } from './process-metrics.ts';
import type { Settings } from './settings.ts';

/** Before the place of a process that died is taken again: one that cannot come up must not use up the machine. */
const AGAIN_MS = 1000;

/** Whether this process serves nobody, but starts those that do. */
export const startsOthers = ({ PROCESSES }: Pick<Settings, 'PROCESSES'>): boolean => PROCESSES > 1 && cluster.isPrimary;

interface Started {
  /** Whether it came so far that it listens. */
  came: Promise<boolean>;
  ended: Promise<number | string>;
}

/**
 * Runs this program in several processes behind one port; connections are given to them in turns, and one that dies is
 * replaced. The first is waited for: it brings the database up to date, and what it cannot do the others cannot either.
 */
export async function startProcesses(
  { PROCESSES, LOG_LEVEL, REDIS_URL }: Pick<Settings, 'PROCESSES' | 'LOG_LEVEL' | 'REDIS_URL'>,
  service: string,
): Promise<Running> {
  const log = createLog({ level: LOG_LEVEL, service });
  if (REDIS_URL === undefined) log.warn({ PROCESSES }, 'without REDIS_URL each process counts limits by itself');
  const living = new Set<Worker>();
  let closing = false;

  function start(): Started {
    const worker = cluster.fork();
    living.add(worker);
    answerForAll(worker, living);
    const [came, ended] = [Promise.withResolvers<boolean>(), Promise.withResolvers<number | string>()];
    worker.once('listening', () => came.resolve(true));
    worker.once('exit', (code, signal) => {
      living.delete(worker);
      came.resolve(false);
      ended.resolve(code ?? signal);
    });
    return { came: came.promise, ended: ended.promise };
  }

  async function keep(first: Started): Promise<void> {
    for (let { ended } = first; ; { ended } = start()) {
      const by = await ended;
      if (closing) return;
      log.error({ by }, 'a process of this service has ended: another one takes its place');
      await delay(AGAIN_MS);
      if (closing) return;
    }
  }

  const first = start();
  if (!(await first.came)) throw new StartError('The first process of this service could not start.');
  const kept = [first, ...Array.from({ length: PROCESSES - 1 }, start)].map(keep);
  return {
    close: async () => {
      closing = true;
      for (const { process } of living) process.kill('SIGTERM');
      await Promise.all(kept);
    },
  };
}
