import type { LiveTopic } from '@troupe/contract';

/** What changes often is told at once, and then so seldom: whoever hears it reads something again. */
const PACE_MS: Partial<Record<LiveTopic, number>> = { usage: 10_000, work: 3000, tasks: 3000 };

export interface Paced {
  change: (topic: LiveTopic) => void;
  stop: () => void;
}

export function createPaced(tell: (topic: LiveTopic) => void, pace = PACE_MS): Paced {
  const resting = new Map<LiveTopic, { timer: NodeJS.Timeout; again: boolean }>();

  function change(topic: LiveTopic): void {
    const ms = pace[topic];
    if (ms === undefined) return tell(topic);
    const rest = resting.get(topic);
    if (rest) {
      rest.again = true;
      return;
    }
    tell(topic);
    const timer = setTimeout(() => {
      const { again } = resting.get(topic)!;
      resting.delete(topic);
      if (again) change(topic);
    }, ms);
    resting.set(topic, { timer, again: false });
  }

  return {
    change,
    stop() {
      for (const { timer } of resting.values()) clearTimeout(timer);
      resting.clear();
    },
  };
}
