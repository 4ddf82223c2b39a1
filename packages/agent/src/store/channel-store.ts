import type { Lease } from './lease.ts';

/**
 * What came in over channels. A message counts once, by the service's own id, in whichever process it arrives and however
 * often. It waits until it is answered and stays as a receipt. One process at a time works on it.
 */

export interface ChannelFile {
  /** How the service knows it. */
  ref: string;
  name: string;
  bytes?: number;
}

export interface ChannelMessage {
  /** The service's own id of the message. */
  id: string;
  /** The conversation, where the answer goes. */
  chat: string;
  sender: string;
  text: string;
  files?: readonly ChannelFile[];
  /** What sending an answer needs besides. */
  extra?: Readonly<Record<string, string>>;
  /** Where its files are in the workspace, once they were fetched. */
  paths?: readonly string[];
  /** What is to be said, where the agent is not to be asked: a task has its words already. */
  words?: string;
}

export interface WaitingMessage extends ChannelMessage {
  tries: number;
  isTold: boolean;
  /** Parts of the answer that the service has. */
  sent: number;
}

type MessageState = 'waiting' | 'answered' | 'failed' | 'ignored';

export interface Receipt {
  channel: string;
  id: string;
  chat: string;
  sender: string;
  state: MessageState;
  note: string | null;
  tries: number;
  receivedAt: string;
  doneAt: string | null;
}

/** What becomes of a message that its holder worked on. */
export type MessageNote =
  /** Names the words that answer it. Refused when another message has them already. */
  | { kind: 'answer'; answer: string }
  | { kind: 'paths'; paths: readonly string[]; text: string }
  | { kind: 'sent'; sent: number }
  /** Later, by whoever comes first. */
  | { kind: 'later'; afterMs: number; isTold?: boolean; note?: string; failed?: boolean }
  | { kind: 'done'; state: 'answered' | 'failed'; note?: string };

export interface ChannelStore {
  /** What a channel adapter must not lose, such as how far it has read. */
  channelState: (channel: string) => Promise<Record<string, unknown>>;
  /** Puts something new in its place; whoever changes it at the same moment comes before or after. */
  changeChannelState: (
    channel: string,
    change: (state: Record<string, unknown>) => Record<string, unknown>,
  ) => Promise<void>;
  /** Writes it down, due at once; or as ignored, with the reason. `full`: too many wait already. */
  takeMessage: (channel: string, message: ChannelMessage, ignored?: string) => Promise<'taken' | 'known' | 'full'>;
  /** What is due and nobody's, now the lease's owner's, in the order in which it came. */
  claimMessages: (channel: string, lease: Lease, limit: number) => Promise<WaitingMessage[]>;
  /** Of those, the ones that are still this owner's: nobody else touches them for as long. */
  holdMessages: (channel: string, ids: readonly string[], lease: Lease) => Promise<void>;
  /** False: it is no longer this owner's, or the answer is another message's. */
  noteMessage: (channel: string, id: string, owner: string, note: MessageNote) => Promise<boolean>;
  /** How many came from a sender since then, ignored ones left out. */
  countMessages: (channel: string, sender: string, since: Date) => Promise<number>;
  /** Newest first. */
  receipts: (page: { channel?: string; limit: number }) => Promise<Receipt[]>;
}

/** Waiting messages of a channel; beyond it the service is told to come again. */
export const MOST_WAITING = 500;
/** Receipts of a channel; older ones go. */
export const RECEIPTS_KEPT = 2000;
/** How often, by chance, the older ones are looked for. */
export const PRUNE_CHANCE = 0.01;
export const MOST_NOTE = 500;
