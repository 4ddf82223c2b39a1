import { LIVE_TOPICS, type LiveTopic } from '@troupe/contract';

/** What was told of late, by user: who opens a stream may have read something a moment before, and was not told since. */
export interface Recent {
  add: (userId: string, topic: LiveTopic) => void;
  /** What may have changed since a reader last read, that many milliseconds ago. */
  missed: (userId: string, ms: number) => LiveTopic[];
}

/** Kept for up to twice that. */
const KEEP_MS = 30_000;
/** Between a read and its reader's clock, and between a change and our hearing of it. */
const SLACK_MS = 1000;

/** Told to readers alone, so nobody knows whether it changed before there was one. */
const TOLD_TO_READERS: readonly LiveTopic[] = ['inbox', 'tasks', 'usage', 'work'];

interface Told {
  topics: Map<LiveTopic, number>;
  isRead: boolean;
}

export function createRecent(clock: () => number = () => performance.now()): Recent {
  let now = new Map<string, Told>();
  let before = new Map<string, Told>();
  let since = clock();

  /** Two halves that take turns: what is old goes as a whole. */
  function turn(): void {
    const age = clock() - since;
    if (age < KEEP_MS) return;
    before = age < 2 * KEEP_MS ? now : new Map();
    now = new Map();
    since = clock();
  }

  function of(userId: string): Told {
    turn();
    const told = now.get(userId) ?? { topics: new Map(), isRead: false };
    now.set(userId, told);
    return told;
  }

  return {
    add(userId, topic) {
      of(userId).topics.set(topic, clock());
    },
    missed(userId, ms) {
      const told = of(userId);
      const older = before.get(userId);
      const isKnown = told.isRead || older?.isRead === true;
      told.isRead = true;
      if (ms > KEEP_MS) return [...LIVE_TOPICS];
      const from = clock() - ms - SLACK_MS;
      const changed = [...(older?.topics ?? []), ...told.topics].flatMap(([topic, at]) => (at >= from ? [topic] : []));
      return [...new Set(isKnown ? changed : [...changed, ...TOLD_TO_READERS])].toSorted();
    },
  };
}
