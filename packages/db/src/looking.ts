import type { Listener } from './notifications.ts';

interface Watched {
  listener: Listener;
  signal: Parameters<Listener['on']>[0];
  /** Does all that there is to do. */
  work: () => Promise<void>;
  /** Throws away what is old; now and then. */
  tidy?: () => Promise<unknown>;
  /** It failed, and is done again at the next look. */
  failed: (error: unknown) => void;
}

/** What a process did not hear, because its listening connection was away. */
const LOOK_MS = 60_000;

/** Works now, when it is told that there is something to do, and now and then; one at a time, and what comes meanwhile after it. */
export function lookWhenTold({ listener, signal, work, tidy, failed }: Watched): {
  look: () => void;
  close: () => Promise<void>;
} {
  let running: Promise<void> | undefined;
  let again = false;
  async function run(): Promise<void> {
    do {
      again = false;
      await work();
    } while (again);
  }
  const look = (): void => {
    again = true;
    running ??= run()
      .catch(failed)
      .finally(() => (running = undefined));
  };
  const stop = listener.on(signal, look);
  const timer = setInterval(() => {
    look();
    tidy?.().catch(failed);
  }, LOOK_MS).unref();
  look();
  return {
    look,
    async close() {
      clearInterval(timer);
      stop();
      await running;
    },
  };
}
