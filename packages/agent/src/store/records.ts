/** What the agent did, for its owner to read. Parts of every store. */

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  level: LogLevelName;
  message: string;
  source: string;
}

export interface LogEntry extends LogLine {
  id: string;
  timestamp: string;
}

export interface Message {
  id: string;
  sender: 'user' | 'agent';
  content: string;
  timestamp: string;
  platform: string;
}

export interface RunStats {
  runs: number;
  failed: number;
  averageMs: number | null;
  lastHour: number;
}

export interface LogStore {
  log: (line: LogLine) => Promise<void>;
  /** Newest first. `after` gives only what came later than that entry. */
  logs: (page: { limit: number; level?: LogLevelName; after?: string }) => Promise<{ logs: LogEntry[]; total: number }>;
}

/** What was said, and how the runs went. */
export interface FigureStore {
  /** Newest first; fewer than `limit` where they are large. */
  messages: (page: { limit: number; offset: number }) => Promise<{ messages: Message[]; total: number }>;
  stats: (now: Date) => Promise<RunStats>;
}
