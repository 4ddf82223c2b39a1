export type Scope = 'agent' | 'team';

export interface Memory {
  id: string;
  key: string | null;
  content: string;
  scope: Scope;
  createdAt: string;
  updatedAt: string;
}

export interface MemoryBounds {
  maxEntries: number;
  ttlDays: number;
}

/** A question as numbers, and whose they are. */
export interface Near {
  model: string;
  vector: Float32Array;
}

/** What the agent remembers. A part of every store. */
export interface MemoryStore {
  /** With a key it replaces the entry of that key. The oldest go when there are more than `maxEntries`. */
  remember: (entry: { scope: Scope; key?: string; content: string }, bounds: MemoryBounds) => Promise<Memory>;
  /**
   * Best match first; without a query the newest first, from `offset` on, and fewer than `limit` where they are large.
   * Entries past their time are not found. With `near`, what is near by meaning is found beside what has the words.
   */
  recall: (search: {
    scope: Scope;
    query?: string;
    limit: number;
    offset?: number;
    near?: Near | undefined;
  }) => Promise<Memory[]>;
  editMemory: (id: string, content: string, bounds: MemoryBounds) => Promise<Memory | undefined>;
  forget: (id: string) => Promise<boolean>;
}
