/** Trees of texts that a session was given by its owner: what it reads and writes there, others read, too. */
export interface StoreSource {
  /** Of one store, or of all that the session has. */
  list: (session: string, store?: string) => Promise<{ store: string; path: string; bytes: number }[]>;
  /** Undefined: there is no such text. */
  read: (session: string, store: string, path: string) => Promise<string | undefined>;
  /** Each throws an AppError with a sentence where it may not be. */
  write: (session: string, store: string, path: string, content: string) => Promise<void>;
  /** False: there was none. */
  remove: (session: string, store: string, path: string) => Promise<boolean>;
}
