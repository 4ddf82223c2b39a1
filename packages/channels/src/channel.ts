import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent, ChannelFile, ChannelMessage } from '@troupe/agent';
import type { ChannelKind } from '@troupe/contract';
import type { Log, Outbound, WorkerPool } from '@troupe/kernel';
import type { Place } from './shares.ts';

/** A messaging service through which people talk to an agent. */

export type { ChannelKind };

/** What its owner entered, by name. */
export type ChannelSettings = Readonly<Record<string, string | undefined>>;

export interface ChannelDeps {
  /** Asked anew for each message: the agent behind it may sleep in between. */
  agent: Pick<Agent, 'id' | 'store' | 'ask' | 'workspace'>;
  settings: ChannelSettings;
  outbound: Outbound;
  /** Where what others wrote is read, and in whose share. */
  pool: WorkerPool;
  owner: string;
  log: Log;
  /** Who may talk to the agent, by the service's own user ids; empty: everybody, but by mail nobody. */
  allowedSenders?: readonly string[];
  /** The service's address; its own unless a test says otherwise. */
  baseUrl?: string;
  /** Where this installation is; services want to know who calls. */
  publicUrl?: string;
  /** How long one look for news waits at the service. */
  pollSeconds?: number;
  /** How long to wait after a failure. */
  retryMs?: number;
  /** For how long a message belongs to the process that took it, should that die. */
  holdMs?: number;
  now?: () => Date;
  /** When it is worth to ask whether nobody listens; every few seconds unless given. */
  place?: Place;
}

/** A part of an answer: what the service takes at once. */
export interface Part {
  /** Counted from 0. */
  index: number;
  text: string;
  files: readonly OutgoingFile[];
}

export interface OutgoingFile {
  name: string;
  bytes: Buffer;
}

/** What a service hands over to. */
export interface Post {
  /** Settles when the message is safely stored; the answer follows. */
  take: (message: ChannelMessage) => Promise<void>;
  /** Puts a file into the agent's workspace, in place of one of that name; answers its path. */
  bring: (name: string, bytes: Buffer) => Promise<string>;
  /** Writes down that somebody was not answered, and why. */
  ignore: (message: ChannelMessage, why: string) => Promise<void>;
  /** How many messages a sender wrote since then. */
  count: (sender: string, since: Date) => Promise<number>;
  remembered: (name: string) => Promise<unknown>;
  remember: (name: string, value: unknown) => Promise<void>;
}

interface Webhook {
  /** Below the agent's root; holds a secret. */
  path: string;
  answer: (post: Post, request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => Promise<void>;
}

/** One service. All that it shares with the others, inbox, receipts, retries, leases, is the channel's. */
export interface Service {
  kind: ChannelKind;
  /** Characters that it takes at once. */
  maxText: number;
  /** Text and files of an answer go out as one. */
  isWhole?: true;
  /** Who the agent is there; throws what is wrong. */
  test: () => Promise<string>;
  /** Tells somebody something unasked; `to` as the service names a chat. */
  tell: (to: string, text: string) => Promise<void>;
  /** A part of the answer to a message. */
  send: (message: ChannelMessage, part: Part) => Promise<void>;
  fetchFile: (file: ChannelFile) => Promise<AsyncIterable<Uint8Array>>;
  /** Listens until the signal ends it; `up` when it does so in earnest. */
  listen?: (post: Post, signal: AbortSignal, up: () => void) => Promise<void>;
  webhook?: Webhook;
}

export interface Channel {
  kind: ChannelKind;
  /** Begins to listen, and delivers answers that a restart left behind. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** Who the agent is at the service; with `to`, after telling somebody there something. Throws what is wrong. */
  test: (to?: string) => Promise<string>;
  /** For services that call us: the path below the agent's root that the owner enters at the service. */
  webhookPath?: string;
  webhook?: (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => Promise<void>;
}

/** How a channel is, for its owner to see. Kept beside what it remembers. */
export interface ChannelStatus {
  state: 'listening' | 'failed' | 'refused';
  error?: string;
  at: string;
}

/** Text in pieces that the service takes, cut at line ends or spaces where there are any. */
export function pieces(text: string, max: number): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > max) {
    const window = rest.slice(0, max);
    const cut = Math.max(window.lastIndexOf('\n'), window.lastIndexOf(' '));
    const at = cut > max / 2 ? cut : max;
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}
