import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log, Outbound } from '@troupe/kernel';
import type { Agent } from '../agent.ts';

/** A messaging service through which people talk to an agent. */

export type ChannelKind = 'telegram' | 'whatsapp' | 'discord';

export interface ChannelDeps {
  /** Asked anew for each message: the agent behind it may sleep in between. */
  agent: Pick<Agent, 'id' | 'store' | 'ask'>;
  token: string;
  outbound: Outbound;
  log: Log;
  /** Who may talk to the agent, by the service's own user ids; empty: everybody. */
  allowedSenders?: readonly string[];
  /** The service's address; its own unless a test says otherwise. */
  baseUrl?: string;
  /** How long one look for news waits at the service. */
  pollSeconds?: number;
  /** How long to wait after a failure. */
  retryMs?: number;
  /** For how long a message belongs to the process that took it, should that die. */
  holdMs?: number;
}

export interface Channel {
  kind: ChannelKind;
  /** Begins to listen, and delivers answers that a restart left behind. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** For services that call us: the path below the agent's root that the owner enters at the service. */
  webhookPath?: string;
  webhook?: (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => Promise<void>;
}

/** The service refused the token: trying again makes no sense. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
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
