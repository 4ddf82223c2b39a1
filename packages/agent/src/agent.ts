import type { AgentConfig, RunLimits, VersionedDefinition } from '@troupe/domain';
import type {
  Attachment,
  Busy,
  CallRecord,
  Refusal,
  RunOutcome,
  SessionEvent,
  Spent,
  Wishes,
} from './session/events.ts';
import type { BackgroundTask } from './store/background.ts';
import type { AgentStore, SessionRef } from './store/store.ts';
import type { McpServers } from './tools/mcp-servers.ts';
import type { Workspace } from './workspace/workspace.ts';

/** One agent, awake: what gateway, channels, scheduler and drivers talk to. Making one costs next to nothing. */

export interface Input {
  to: SessionRef;
  /** May be empty where results are given. */
  content: string;
  /** Of calls that the agent's run waits for: tools of the caller's own. */
  results?: readonly { callId: string; tool: string; content: string }[];
  wishes?: Wishes;
  attachments?: readonly Attachment[];
  from?: string;
  /** The owner names whoever says it, one by one. */
  isNamed?: boolean;
  /** Messages of an earlier conversation that the session does not have yet. */
  history?: readonly { role: 'user' | 'assistant' | 'system'; content: string }[];
  /** The same input under the same id is taken once, and answers the same. */
  inputId?: string;
  limits?: RunLimits;
  /** It is work that somebody has in the background, so deep. */
  depth?: number;
  /** Called when the input is stored, before anybody works on it. */
  onTaken?: (taken: { sessionId: string; seq: number }) => void;
  /** Hears what is thought about it in this process; not stored. */
  onThought?: (text: string) => void;
}

/** Words that stand in a conversation from now on, and that nobody answers. */
export interface Note {
  to: SessionRef;
  role: 'user' | 'assistant';
  content: string;
  by?: string;
  /** The same note under the same id is taken once. */
  inputId?: string;
}

export interface Answer {
  sessionId: string;
  outcome: RunOutcome | 'waiting' | 'calls';
  /** The number of the event that settles it: inputs that share an answer share it. */
  seq?: number;
  /** The agent's words; for any other outcome than `done`, a sentence that says what happened. */
  reply: string;
  reason?: string;
  /** With `calls`: tools of the caller's own that the run waits for. */
  calls?: readonly CallRecord[];
  /** There was no money or quota left: code, used, limit, when it resets. */
  refusal?: Refusal;
  /** A provider was asked too often. */
  busy?: Busy;
  spent: Spent;
}

export type LiveEvent =
  | { kind: 'event'; sessionId: string; event: SessionEvent }
  /** A piece of text that is being written; not stored. `saw` as in the event that it becomes; `fresh`: it begins anew. */
  | { kind: 'delta'; sessionId: string; text: string; saw: number; fresh?: true };

/** A piece of what the model thinks before it speaks; not stored. */
export interface LiveThought {
  kind: 'thought';
  sessionId: string;
  text: string;
  saw: number;
}

/** Waits until there is room for a page of what is stored; to be called when all of it was taken. */
export type Room = (signal: AbortSignal) => Promise<() => void>;

/** What an agent has kept: enough to read all of it, whether it runs or not. */
export interface Kept {
  readonly id: string;
  /** It does not run, and its tokens open nothing; left out: it runs. */
  readonly isStopped?: boolean;
  /** Whose turn it is when its conversations are read. */
  readonly owner: string;
  readonly store: AgentStore;
  /** Its files; throws where it has none. */
  workspace: () => Promise<Workspace>;
  definition: () => Promise<VersionedDefinition>;
  /** Work that it has in the background; throws 404. */
  task: (id: string) => Promise<BackgroundTask>;
  /** Sessions that this process is working on. */
  busy: () => number;
}

export interface Agent extends Kept {
  /** Its MCP servers; left out: it can have none. */
  readonly mcp?: McpServers;
  /**
   * Takes an input and answers with the words that saw it, or when the run ended without any or waits for an approval. The
   * listener hears it from the start.
   */
  ask: (input: Input, listener?: (event: LiveEvent) => void) => Promise<Answer>;
  /** Takes an input and answers as soon as it is safely stored; the work goes on. */
  tell: (input: Input) => Promise<{ sessionId: string; seq: number; duplicate: boolean }>;
  /** Writes something down in a conversation without any work. */
  note: (note: Note) => Promise<{ sessionId: string; seq: number }>;
  /** Events and text as they happen in this process. Call the result to stop. */
  watch: (sessionId: string, listener: (event: LiveEvent) => void) => () => void;
  /** Stored events after `after`, then new ones, from whichever process they come. Ends with the signal. */
  follow: (sessionId: string, after: number, signal: AbortSignal, room?: Room) => AsyncIterable<LiveEvent>;
  /** The same, with what is thought in this process meanwhile. */
  attend: (sessionId: string, after: number, signal: AbortSignal) => AsyncIterable<LiveEvent | LiveThought>;
  /** Calls that the session's run waits for from outside. */
  openCalls: (sessionId: string) => Promise<readonly CallRecord[]>;
  /** What goes on in the session, and what it has in the background. False: there was nothing. */
  cancel: (sessionId: string, by: string) => Promise<boolean>;
  /** False: it had ended before. The agent is told. */
  stopTask: (id: string, by: string) => Promise<boolean>;
  /** All that it has; nobody is told. Answers how many. */
  stopTasks: (by: string) => Promise<number>;
  /** `answer`: to a question, with words. */
  decide: (approvalId: string, approved: boolean, by: string, answer?: string) => Promise<void>;
  /** Takes a new configuration over at once. */
  configure: (config: unknown) => Promise<AgentConfig>;
  /** Looks whether there is something to do, and does it. No model call when there is nothing. */
  heartbeat: () => Promise<Answer | undefined>;
  /** Goes on with what a crash left unfinished; answers how many sessions. */
  resume: () => Promise<number>;
  /** Tasks in the background that this process sees to. */
  busyInBackground: () => number;
  /** Nobody works or reads along. */
  idle: () => boolean;
  /** Ends running work at its next safe point and lets go of everything it holds. */
  sleep: () => Promise<void>;
}
