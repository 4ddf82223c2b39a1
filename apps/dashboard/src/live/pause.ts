export interface Pause {
  for: (ms: number) => Promise<void>;
  /** Ends the pause that is under way. */
  end: () => void;
}

export function createPause(): Pause {
  let end: () => void = () => {};
  return {
    for: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    end: () => end(),
  };
}

/** Several calls in one turn are one, after it. */
export function oncePerTurn(work: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    queueMicrotask(() => {
      isAsked = false;
      work();
    });
  };
}

/** The first is passed on at once; what comes within `ms` of it goes together, after that. */
export function gather<T>(ms: number, pass: (all: ReadonlySet<T>) => void): (news: readonly T[]) => void {
  let waiting = new Set<T>();
  let isResting = false;
  const go = (): void => {
    const all = waiting;
    waiting = new Set();
    isResting = all.size > 0;
    if (!isResting) return;
    setTimeout(go, ms);
    pass(all);
  };
  return (news) => {
    for (const one of news) waiting.add(one);
    if (!isResting) go();
  };
}
