import { hmacHex, sameSecret } from '@troupe/kernel';

/**
 * A ticket opens one agent's gateway for a while, in place of its token: it stands in the address of the web chat, where
 * the token itself must not. It dies with the token that it was made for.
 */
const PREFIX = 'tkt_';
const LIFE_MS = 12 * 3_600_000;

interface Subject {
  agentId: string;
  tokenHash: string;
}

const sign = (secret: string, { agentId, tokenHash }: Subject, until: string): string =>
  hmacHex(secret, JSON.stringify(['gateway ticket', agentId, tokenHash, until]));

export function makeTicket(secret: string, subject: Subject, now: Date): string {
  const until = String(now.getTime() + LIFE_MS);
  return `${PREFIX}${until}.${sign(secret, subject, until)}`;
}

export const isTicket = (token: string): boolean => token.startsWith(PREFIX);

export function checkTicket(secret: string, subject: Subject, ticket: string, now: Date): boolean {
  const [until = '', signature = ''] = ticket.slice(PREFIX.length).split('.');
  return Number(until) > now.getTime() && sameSecret(signature, sign(secret, subject, until));
}
