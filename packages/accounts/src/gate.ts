import { AppError } from '@troupe/kernel';

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets `width` pieces of work run at once and `queue` wait; whoever comes after that is told to come back. */
export function createGate({ width, queue }: { width: number; queue: number }): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running < width) running += 1;
    else if (waiting.length < queue) await new Promise<void>((resolve) => waiting.push(resolve));
    else
      throw new AppError(503, 'The service is busy. Try again in a moment.', {}, { headers: { 'retry-after': '2' } });
    try {
      return await work();
    } finally {
      // The place is handed on, not given back: nobody can slip in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
