import type { LiveTopic } from '@troupe/contract';

/** A few changes are read at once, a stream of them now and then: what a page may ask in a minute is bounded. */
interface Pace {
  /** So many at once. */
  burst: number;
  /** Then one each so often; the last is always read. */
  everyMs: number;
}

/** Agents that come and go, tasks of every second, a folder of documents. */
const STEADY: Pace = { burst: 8, everyMs: 4000 };

const PACES: Partial<Record<LiveTopic, Pace>> = {
  // Somebody waits for an answer.
  inbox: { burst: 10, everyMs: 3000 },
  // These change all the time while agents work.
  work: { burst: 3, everyMs: 7500 },
  usage: { burst: 3, everyMs: 20_000 },
};

interface Bucket {
  left: number;
  at: number;
  waits?: ReturnType<typeof setTimeout> | undefined;
}

export interface Paced {
  take: (topics: LiveTopic[]) => void;
  stop: () => void;
}

export function createPaced(act: (topics: LiveTopic[]) => void, now: () => number = Date.now): Paced {
  const buckets = new Map<LiveTopic, Bucket>();
  const fill = (bucket: Bucket, { burst, everyMs }: Pace): void => {
    const at = now();
    bucket.left = Math.min(burst, bucket.left + Math.max(0, at - bucket.at) / everyMs);
    bucket.at = at;
  };
  /** False: it is read later, once for all that comes until then. */
  const isDue = (topic: LiveTopic): boolean => {
    const pace = PACES[topic] ?? STEADY;
    const bucket = buckets.get(topic) ?? { left: pace.burst, at: now() };
    buckets.set(topic, bucket);
    if (bucket.waits !== undefined) return false;
    fill(bucket, pace);
    if (bucket.left >= 1) {
      bucket.left -= 1;
      return true;
    }
    bucket.waits = setTimeout(
      () => {
        bucket.waits = undefined;
        fill(bucket, pace);
        bucket.left = Math.max(0, bucket.left - 1);
        act([topic]);
      },
      (1 - bucket.left) * pace.everyMs,
    );
    return false;
  };
  return {
    take(topics) {
      const due = topics.filter(isDue);
      if (due.length > 0) act(due);
    },
    stop() {
      for (const bucket of buckets.values()) clearTimeout(bucket.waits);
      buckets.clear();
    },
  };
}
