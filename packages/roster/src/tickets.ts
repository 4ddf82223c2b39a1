import { hmacHex, randomHex, sameSecret } from '@troupe/kernel';

/**
 * A ticket opens the web chat of one agent, and nothing else of it, in place of its token: it stands in the address, where
 * the token itself must not. It opens once, within five minutes; it, and what it has opened, end with the session or the
 * API key that it was made for, and with the agent's token.
 */
const PREFIX = 'tkt_';
const LIFE_MS = 5 * 60_000;

interface Subject {
  agentId: string;
  tokenHash: string;
}

/** What somebody asked for the ticket with. */
export interface Holder {
  kind: 'session' | 'key';
  id: string;
}

const HOLDER = /^(session|key)-([\w-]+)$/;

const sign = (secret: string, { agentId, tokenHash }: Subject, ...parts: string[]): string =>
  hmacHex(secret, JSON.stringify(['gateway ticket', agentId, tokenHash, ...parts]));

export function makeTicket(secret: string, subject: Subject, { kind, id }: Holder, now: Date): string {
  const until = String(now.getTime() + LIFE_MS);
  const holder = `${kind}-${id}`;
  // Two that are made in the same moment are two.
  const nonce = randomHex(8);
  return `${PREFIX}${until}.${holder}.${nonce}.${sign(secret, subject, holder, until, nonce)}`;
}

/** For whom a ticket says it was made, which is not checked yet; undefined: it is none. */
export function holderOf(ticket: string): Holder | undefined {
  if (!ticket.startsWith(PREFIX)) return undefined;
  const [, kind, id] = HOLDER.exec(ticket.split('.')[1] ?? '') ?? [];
  return kind === undefined || id === undefined ? undefined : { kind: kind as Holder['kind'], id };
}

/** Whether it was made for this agent and its token; `now` left out: however long ago. */
export function checkTicket(secret: string, subject: Subject, ticket: string, now?: Date): boolean {
  const [until = '', holder = '', nonce = '', signature = ''] = ticket.slice(PREFIX.length).split('.');
  const isFresh = now === undefined || Number(until) > now.getTime();
  return isFresh && sameSecret(signature, sign(secret, subject, holder, until, nonce));
}

/** Until when it is good for opening. */
export const ticketEnds = (ticket: string): Date => new Date(Number(ticket.slice(PREFIX.length).split('.', 1)[0]));
