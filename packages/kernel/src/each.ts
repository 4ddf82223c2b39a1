/**
 * As `for await`, and keeps nothing of an item while it waits for the next one. A function that is suspended keeps whatever its
 * variables held last, also those of a loop's round that is over: each of thousands of followers had the last thing that
 * it passed on.
 */
export async function eachOf<T>(items: AsyncIterable<T>, work: (item: T) => Promise<void> | void): Promise<void> {
  const reading = items[Symbol.asyncIterator]();
  let isOver = false;
  try {
    while (!isOver) isOver = await passNext(reading, work);
  } finally {
    if (!isOver) await reading.return?.();
  }
}

/** Answers whether there was none. */
async function passNext<T>(reading: AsyncIterator<T>, work: (item: T) => Promise<void> | void): Promise<boolean> {
  const { done, value } = await reading.next();
  if (done !== true) await work(value as T);
  return done === true;
}
