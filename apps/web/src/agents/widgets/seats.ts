import { AppError } from '@troupe/kernel';

/** Streams that are open in this process, by whom they are. */
export interface Stream {
  key: string;
  visitorId: string;
  address: string;
  /** Whose widget it is. */
  ownerId: string;
  /** The widget is not there any more. */
  close: () => void;
}

const MOST = { visitorId: 3, address: 40, key: 300, ownerId: 500 } as const;
const MOST_OF_ALL = 2000;

export function createSeats() {
  const open = new Set<Stream>();
  const counts = new Map<string, number>();
  const change = (name: string, by: 1 | -1): void => {
    const now = (counts.get(name) ?? 0) + by;
    if (now > 0) counts.set(name, now);
    else counts.delete(name);
  };
  const names = (stream: Stream) =>
    (Object.keys(MOST) as (keyof typeof MOST)[]).map((by) => ({ name: `${by} ${stream[by]}`, most: MOST[by] }));

  return {
    all: (): readonly Stream[] => [...open],
    /** Throws when it is one too many. Call the result when it is over. */
    take(stream: Stream): () => void {
      const retry = { headers: { 'retry-after': '10' } };
      if (names(stream).some(({ name, most }) => (counts.get(name) ?? 0) >= most))
        throw new AppError(429, 'Too many requests', {}, retry);
      if (open.size >= MOST_OF_ALL) throw new AppError(503, 'The service is busy. Try again in a moment.', {}, retry);
      open.add(stream);
      for (const { name } of names(stream)) change(name, 1);
      return () => {
        if (!open.delete(stream)) return;
        for (const { name } of names(stream)) change(name, -1);
      };
    },
  };
}
