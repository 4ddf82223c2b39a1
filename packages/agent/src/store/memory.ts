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
