import { pulled } from '@troupe/kernel';

/** Asked for at once, one item ahead of who reads: what happens from now on is not missed. */
export function readAhead<T>(events: AsyncIterable<T>): AsyncIterable<T> {
  const reading = events[Symbol.asyncIterator]();
  const ahead = (): ReturnType<typeof reading.next> => {
    const asked = reading.next();
    // It may fail while a slow reader is waited for, or after the last word: whoever awaits it hears of it.
    asked.catch(() => undefined);
    return asked;
  };
  let next = ahead();
  return pulled(
    async () => {
      const item = await next;
      if (item.done === true) return undefined;
      next = ahead();
      return item.value;
    },
    () => void reading.return?.().catch(() => undefined),
  );
}
