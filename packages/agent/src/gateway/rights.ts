import { AppError } from '@troupe/kernel';
import type { Session } from '../store/store.ts';
import type { GatewayPrincipal } from './types.ts';

/**
 * Who may do what at an agent's gateway. The owner comes with the gateway token, with a ticket (to the WebSocket only), or
 * through the platform. An API key of the owner's speaks to it as to a model, by
 * A2A, AG-UI or MCP, in conversations of its own. A device that the owner paired talks, and
 * sees what it talked about itself. A member of the team hands over work and takes it back. What the owner has kept for
 * himself to decide is decided by nobody else.
 */
type Caller = GatewayPrincipal['kind'];

const RIGHTS = {
  /** Conversations: those of one's own, for everybody but the owner. */
  talk: ['owner', 'device'],
  /** The same, as clients of models do. */
  speak: ['owner', 'device', 'key'],
  /** A piece of work with an end, and its cancelling. */
  work: ['owner', 'member'],
  /** Logs, figures, memory, configuration, everybody's messages. */
  look: ['owner'],
  /** Configuration, memory, definition; messages in the name of others. */
  change: ['owner'],
  /** Approvals. */
  decide: ['owner'],
} as const satisfies Record<string, readonly Caller[]>;

export type Right = keyof typeof RIGHTS;

const may = ({ kind }: Pick<GatewayPrincipal, 'kind'>, right: Right): boolean =>
  (RIGHTS[right] as readonly Caller[]).includes(kind);

export function requireRight(principal: GatewayPrincipal, right: Right): void {
  if (!may(principal, right)) throw new AppError(403, 'Only the owner may do this');
}

/** What begins the key of each conversation of this caller; undefined: all are the owner's. */
export const ownKeys = ({ kind, id }: GatewayPrincipal): string | undefined =>
  kind === 'owner' ? undefined : `${id}:`;

/** The key of a conversation as this caller names it: nobody gets into another's by naming it alike. */
export function keyFor(principal: GatewayPrincipal, key: string): string {
  const prefix = ownKeys(principal);
  return prefix === undefined || key.startsWith(prefix) ? key : prefix + key;
}

export function owns(principal: GatewayPrincipal, { key }: Pick<Session, 'key'>): boolean {
  const prefix = ownKeys(principal);
  return prefix === undefined || key.startsWith(prefix);
}
