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
