import type { LiveTopic } from '@troupe/contract';

/** What was told of late, by user: who opens a stream may have read a moment before that, and nobody told them since. */
export interface Recent {
  add: (userId: string, topic: LiveTopic) => void;
  /** What a stream that opens now may have missed. Those who read already are told of everything; others are not. */
  missed: (userId: string) => LiveTopic[];
}

/** Longer than a page takes from what it reads first to its stream, on a busy machine too. Kept for up to twice that. */
const KEEP_MS = 30_000;

/** Told to readers alone, so nobody knows whether it changed before there was one. */
const TOLD_TO_READERS: readonly LiveTopic[] = ['inbox', 'tasks', 'usage', 'work'];

interface Told {
  topics: Set<LiveTopic>;
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
    const told = now.get(userId) ?? { topics: new Set(), isRead: false };
    now.set(userId, told);
    return told;
  }

  return {
    add(userId, topic) {
      of(userId).topics.add(topic);
    },
    missed(userId) {
      const told = of(userId);
      const older = before.get(userId);
      const unheard = told.isRead || older?.isRead ? [] : TOLD_TO_READERS;
      told.isRead = true;
      return [...new Set([...told.topics, ...(older?.topics ?? []), ...unheard])].toSorted();
    },
  };
}
