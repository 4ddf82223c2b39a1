/** How far a session is. Undefined: there is no such session; an error: it cannot be told any more. */
export type Told = number | undefined | Error;

/** Whether sessions went on, whichever process works on them. */
export interface SessionNews {
  /** Tells soon how far the session is, again whenever it went on, and now and then. Call the result to stop. */
  watch: (sessionId: string, tell: (told: Told) => void) => () => void;
}

/** Where it can be looked up how far a session is. */
interface Looked {
  session: (id: string) => Promise<{ lastSeq: number } | undefined>;
}

/** For a store that tells nothing: one look for all who watch a session, again and again. */
export function polledNews(store: Looked, pollMs: number): SessionNews {
  interface Watched {
    tells: Set<(told: Told) => void>;
    timer: NodeJS.Timeout | undefined;
  }
  const watched = new Map<string, Watched>();

  const later = (sessionId: string, one: Watched): void => {
    one.timer = setTimeout(() => void look(sessionId, one), pollMs).unref();
  };
  async function look(sessionId: string, one: Watched): Promise<void> {
    const told = await store.session(sessionId).then(
      (session) => session?.lastSeq,
      (error: unknown) => error as Error,
    );
    for (const tell of one.tells) tell(told);
    if (one.tells.size > 0) later(sessionId, one);
  }

  return {
    watch(sessionId, tell) {
      const known = watched.get(sessionId);
      const one = known ?? { tells: new Set(), timer: undefined };
      one.tells.add(tell);
      if (!known) {
        watched.set(sessionId, one);
        later(sessionId, one);
      }
      return () => {
        one.tells.delete(tell);
        if (one.tells.size > 0) return;
        clearTimeout(one.timer);
        if (watched.get(sessionId) === one) watched.delete(sessionId);
      };
    },
  };
}
