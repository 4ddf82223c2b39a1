import type { SessionEventBody, SessionStatus } from '../session/events.ts';

/** Conversations as people keep them: found, named, pinned, put away, branched. A part of every store. */

export interface Session {
  id: string;
  channel: string;
  /** Tells conversations of one channel apart: a chat id, a task id, a sender. */
  key: string;
  status: SessionStatus;
  lastSeq: number;
  createdAt: string;
  updatedAt: string;
  /** As its owner calls it, else its first words. These are there where it was looked up, not where it is worked on. */
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  branchOf?: string | null;
  branchAt?: number | null;
}

interface SessionPage {
  limit: number;
  offset: number;
  /** Only those whose key begins so. */
  keys?: string;
  /** Only those of this key. */
  key?: string;
  /** Of each conversation only the branch that was used last; pinned ones first. */
  latest?: boolean;
  /** Only those that were put away, or only the others. */
  archived?: boolean;
}

export interface Branch {
  id: string;
  branchOf: string | null;
  branchAt: number | null;
  updatedAt: string;
}

export interface Found {
  sessionId: string;
  seq: number;
  at: string;
  role: 'user' | 'assistant';
  title: string;
  /** The words around what was looked for. */
  text: string;
}

interface Branching {
  at: number;
  key: string;
  /** What ends a run that was open there. */
  closing: readonly SessionEventBody[];
}

export interface ConversationStore {
  session: (id: string) => Promise<Session | undefined>;
  /** Newest first. */
  sessions: (page: SessionPage) => Promise<Session[]>;
  /** Holds for all its branches; false: there is no such session. */
  describe: (id: string, change: { title?: string; pinned?: boolean; archived?: boolean }) => Promise<boolean>;
  /** With all its branches. */
  removeConversation: (id: string) => Promise<boolean>;
  /** A session that begins with the steps of this one; the same key again answers the one that was made. */
  branch: (id: string, branching: Branching) => Promise<string | undefined>;
  /** The session and its branches, the oldest first. */
  branches: (id: string) => Promise<Branch[]>;
  /** What came in through one channel, the newest first, and how much of it there is. */
  inputs: (page: InputPage) => Promise<{ inputs: GivenInput[]; total: number }>;
  /** Messages that have these words, the newest first; of the newest 50,000 ones. `keys` as in a page of sessions. */
  search: (words: string, page: { limit: number; keys?: string }) => Promise<Found[]>;
}

/** One that was given to the agent, by its number in its session. */
export interface GivenInput {
  sessionId: string;
  seq: number;
}

interface InputPage {
  channel: string;
  limit: number;
  offset: number;
  /** Of sessions whose key begins so. */
  keys?: string | undefined;
  /** Of the session of this key. */
  key?: string | undefined;
}

export const SEARCHED_MESSAGES = 50_000;
/** Characters around a match. */
export const AROUND = { before: 60, length: 200 };
