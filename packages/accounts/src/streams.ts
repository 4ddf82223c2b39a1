import { credentialEnded } from '@troupe/contract';
import type { Listener } from '@troupe/db';
import { AppError, type User } from '@troupe/kernel';

/** An answer that stays open for as long as somebody listens. */
export interface Stream {
  user: Pick<User, 'id'> & Partial<Pick<User, 'sessionId' | 'keyId'>>;
  end: () => void;
}

export interface Streams<T extends Stream> {
  /** Throws 429 when it is one too many. Call the result when it is over. */
  join: (stream: T) => () => void;
  of: (userId: string) => ReadonlySet<T>;
  all: () => T[];
}

interface Bound {
  most: number;
  refusal: string;
}

/** So many for a user, and none for longer than the session or key lasts that opened it. */
export function createStreams<T extends Stream>(listener: Listener, { most, refusal }: Bound): Streams<T> {
  const open = new Map<string, Set<T>>();
  const all = (): T[] => [...open.values()].flatMap((set) => [...set]);

  listener.on(credentialEnded, (payload) => {
    for (const { user, end } of all())
      if (payload === `session:${user.sessionId}` || payload === `key:${user.keyId}`) end();
  });

  return {
    join(stream) {
      const { id } = stream.user;
      const set = open.get(id) ?? new Set();
      if (set.size >= most) throw new AppError(429, refusal);
      open.set(id, set.add(stream));
      return () => {
        // Said twice, by who left and by what was left, it must not forget those who came in between.
        if (set.delete(stream) && set.size === 0) open.delete(id);
      };
    },
    of: (userId) => open.get(userId) ?? new Set(),
    all,
  };
}
