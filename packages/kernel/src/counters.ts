import type { Log } from './log.ts';
import type { Clock } from './time.ts';

/** Counts within fixed windows: in this process, or in Redis for all processes together. */
export interface Counters {
  /** Adds one to `key`; tells the count of its window and when that ends. */
  hit: (key: string, windowMs: number) => Promise<Hit> | Hit;
  /** Reads without adding. */
  peek: (key: string) => Promise<Hit | null> | Hit | null;
  clear: (key: string) => Promise<void> | void;
  healthy: () => Promise<boolean>;
  close: () => Promise<void>;
}

export interface Hit {
  count: number;
  resetsInMs: number;
}

const SWEEP_AT = 10_000;

export function memoryCounters(clock: Clock): Counters {
  const windows = new Map<string, { count: number; ends: number }>();
  let sweepAt = SWEEP_AT;

  // Addresses come and go: drop ended windows whenever the map has doubled, so that memory follows what is live.
  function sweep(now: number): void {
    for (const [key, { ends }] of windows) if (ends <= now) windows.delete(key);
    sweepAt = Math.max(SWEEP_AT, windows.size * 2);
  }

  return {
    hit(key, windowMs) {
      const now = clock().getTime();
      let window = windows.get(key);
      if (!window || window.ends <= now) {
        if (windows.size >= sweepAt) sweep(now);
        window = { count: 0, ends: now + windowMs };
        windows.set(key, window);
      }
      window.count += 1;
      return { count: window.count, resetsInMs: window.ends - now };
    },
    peek(key) {
      const window = windows.get(key);
      const now = clock().getTime();
      return window && window.ends > now ? { count: window.count, resetsInMs: window.ends - now } : null;
    },
    clear(key) {
      windows.delete(key);
    },
    healthy: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}

const HIT = `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { n, redis.call('PTTL', KEYS[1]) }`;

/** While Redis does not answer, each process counts for itself: a limit that is loose for a while beats a service that is down. */
export async function redisCounters(url: string, log: Log, clock: Clock): Promise<Counters> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    connectTimeout: 2000,
    commandTimeout: 500,
    keyPrefix: 'troupe:',
  });
  const local = memoryCounters(clock);
  let down = false;
  redis.on('error', (error: Error) => {
    if (!down) log.warn({ err: error }, 'Redis does not answer: counting in this process until it does');
    down = true;
  });
  redis.on('ready', () => {
    down = false;
  });

  async function orLocal<T>(ask: () => Promise<T>, instead: () => T | Promise<T>): Promise<T> {
    if (redis.status !== 'ready') return instead();
    try {
      return await ask();
    } catch (error) {
      log.warn({ err: error }, 'Redis call failed: counted in this process');
      return instead();
    }
  }

  return {
    hit: (key, windowMs) =>
      orLocal(
        async () => {
          const [count, left] = (await redis.eval(HIT, 1, key, windowMs)) as [number, number];
          return { count, resetsInMs: Math.max(left, 0) };
        },
        () => local.hit(key, windowMs),
      ),
    peek: (key) =>
      orLocal(
        async () => {
          const [count, left] = await Promise.all([redis.get(key), redis.pttl(key)]);
          return count === null ? null : { count: Number(count), resetsInMs: Math.max(left, 0) };
        },
        () => local.peek(key),
      ),
    clear: (key) =>
      orLocal(
        async () => void (await redis.del(key)),
        () => local.clear(key),
      ),
    healthy: () =>
      orLocal(
        async () => (await redis.ping()) === 'PONG',
        () => false,
      ),
    close: async () => redis.disconnect(),
  };
}
