import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from './errors.ts';
import { freePort } from './http/listening.ts';
import type { Running } from './lifecycle.ts';
import { createLog } from './log.ts';
import { answerForAll } from './process-metrics.ts';
import type { Settings } from './settings.ts';

/** Before the place of a process that died is taken again: one that cannot come up must not use up the machine. */
const AGAIN_MS = 1000;

/** Whether this process serves nobody, but starts those that do. */
export const startsOthers = ({ PROCESSES }: Pick<Settings, 'PROCESSES'>): boolean => PROCESSES > 1 && cluster.isPrimary;

/** Whether this process is one of several behind a port. */
export const isOneOfSeveral = (): boolean => cluster.isWorker;

const LISTENS = 'listens';

/** To whoever started this process, if somebody did. */
export const tellThatItListens = (): void => void (cluster.isWorker && process.send?.(LISTENS));

type PortSetting = 'WEB_PORT' | 'BACKEND_PORT' | 'SUMMARIZER_PORT';

interface Started {
  /** Whether it came so far that it listens. */
  came: Promise<boolean>;
  ended: Promise<number | string>;
}

/**
 * Runs this program in several processes that listen on one port; the system gives each connection to one of them, so
 * that nothing of one that dies waits for it. It is replaced. The first is waited for: it brings the database up to date,
 * and what it cannot do the others cannot either.
 */
export async function startProcesses(settings: Settings, service: string, portSetting: PortSetting): Promise<Running> {
  const { PROCESSES, LOG_LEVEL, REDIS_URL, HOST } = settings;
  const log = createLog({ level: LOG_LEVEL, service });
  if (REDIS_URL === undefined) log.warn({ PROCESSES }, 'without REDIS_URL each process counts limits by itself');
  const port = await freePort(HOST, settings[portSetting], portSetting);
  const living = new Set<Worker>();
  let closing = false;

  function start(): Started {
    const worker = cluster.fork({ [portSetting]: String(port) });
    living.add(worker);
    answerForAll(worker, living);
    const [came, ended] = [Promise.withResolvers<boolean>(), Promise.withResolvers<number | string>()];
    worker.on('message', (message: unknown) => void (message === LISTENS && came.resolve(true)));
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
      for (const { process: child } of living) child.kill('SIGTERM');
      await Promise.all(kept);
    },
  };
}
