/** Waits for work that others may wait for too: it goes on when this one gives up. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal?.reason as Error);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
