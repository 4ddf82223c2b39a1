/**
 * As `for await`, and keeps nothing of an item while it waits for the next one. A function that is suspended keeps whatever its
 * variables held last, also those of a loop's round that is over: each of thousands of followers had the last thing that
 * it passed on. Where `work` answers true, that was enough.
 */
export async function eachOf<T>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<boolean | void> | boolean | void,
): Promise<void> {
  const reading = items[Symbol.asyncIterator]();
  let went: 'on' | 'enough' | 'over' = 'on';
  try {
    while (went === 'on') went = await passNext(reading, work);
  } finally {
    if (went !== 'over') await reading.return?.();
  }
}

async function passNext<T>(
  reading: AsyncIterator<T>,
  work: (item: T) => Promise<boolean | void> | boolean | void,
): Promise<'on' | 'enough' | 'over'> {
  const { done, value } = await reading.next();
  if (done === true) return 'over';
  return (await work(value as T)) === true ? 'enough' : 'on';
}

/**
 * What `next` gives until it gives undefined; `end` is called once, however it ends. As a generator would be, which keeps
 * what it gave last while it waits, as a loop does.
 */
export function pulled<T>(
  next: () => Promise<T | undefined>,
  end: () => Promise<unknown> | void,
): AsyncIterableIterator<T, undefined> {
  let isOver = false;
  const finish = async (): Promise<{ done: true; value: undefined }> => {
    if (!isOver) {
      isOver = true;
      await end();
    }
    return { done: true, value: undefined };
  };
  return {
    async next() {
      if (isOver) return { done: true, value: undefined };
      try {
        const value = await next();
        return value === undefined ? await finish() : { done: false, value };
      } catch (error) {
        await finish();
        throw error;
      }
    },
    return: finish,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** What is made of each: none, one or several. */
export function madeOf<T, U>(items: AsyncIterable<T>, make: (item: T) => readonly U[]): AsyncIterableIterator<U> {
  const reading = items[Symbol.asyncIterator]();
  const made: U[] = [];
  const more = async (): Promise<boolean> => {
    const { done, value } = await reading.next();
    if (done !== true) made.push(...make(value as T));
    return done !== true;
  };
  return pulled(
    async () => {
      for (let isOpen = true; isOpen && made.length === 0;) isOpen = await more();
      return made.shift();
    },
    async () => reading.return?.(),
  );
}
