import type { Scope } from './memory.ts';

/** Facts out of conversations, as an agent that is a program of its own keeps them. The platform has tables for the others. */

export interface Said {
  seq: number;
  role: 'user' | 'assistant';
  text: string;
  at: Date;
}

export interface Talk {
  status: string;
  lastSeq: number;
  /** Facts were taken out up to here. */
  from: number;
  said: Said[];
}

/** After what a stranger said, without the answer to him. */
export function afterStranger(said: readonly Said[]): Said[] {
  const first = said.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : said.slice(first);
}

/** A fact, the message that says it, and the memories that say something else, by their ids. */
export interface Fact {
  content: string;
  said: Said;
  disputes: string[];
}

export interface KeptFact {
  id: string;
  content: string;
  at: string;
  conversationId: string;
  message: number;
  /** Null: it was deleted. */
  conversation: string | null;
  contradicts: { id: string; content: string; at: string }[];
}

/** How a memory stands, for its owner. */
export interface MemoryState {
  memories: number;
  embedded: number;
  meaningNote: string | null;
  factsNote: string | null;
  found: KeptFact[];
}

/** Where anybody may write unless the owner says who: only what those say counts whom he names one by one. */
export const OPEN_TO_ANYBODY = ['telegram', 'slack', 'discord', 'whatsapp'];
/** Where people whom the owner lets in talk to an agent. */
export const TALKED_IN = ['api', 'webchat', 'ag-ui', ...OPEN_TO_ANYBODY];

/** A conversation rests when nothing has happened in it for so long. */
export const REST_SECONDS = 600;
/** Of a conversation, and of each message. */
export const MOST_MESSAGES = 80;
export const MESSAGE_CHARACTERS = 4000;

type Keep = 'this' | 'others' | 'all';

export interface NewFacts {
  scope: Scope;
  sessionId: string;
  from: number;
  to: number;
  facts: readonly Fact[];
  tokens: number;
  bounds: { maxEntries: number; ttlDays: number };
}

export interface FactStore {
  /** Conversations that came to rest, one after the other. None of those that did so before facts were wanted. */
  resting: (given: { seconds: number; most: number }) => Promise<readonly { sessionId: string; at: string }[]>;
  /** That one, and all before it, are done with. */
  seen: (one: { sessionId: string; at: string }) => Promise<void>;
  /** Facts are not wanted any more. */
  unwanted: () => Promise<void>;
  /** Undefined: it is gone, or strangers talked there. */
  talk: (sessionId: string) => Promise<Talk | undefined>;
  tokensToday: () => Promise<number>;
  /** All with how far they go; answers how many there was no room for. None goes for them. Undefined: somebody has written them. */
  write: (given: NewFacts) => Promise<number | undefined>;
  note: (text: string | null) => Promise<void>;
  state: (scope: Scope, model: string | null) => Promise<MemoryState>;
  /** False: there is no such fact. */
  decide: (scope: Scope, id: string, keep: Keep) => Promise<boolean>;
}
