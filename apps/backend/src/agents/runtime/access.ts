import type { GatewayPrincipal, Verify } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { sameSecret, sha256Hex, type Clock } from '@troupe/kernel';
import { checkTicket, holderOf, memberOf, ticketEnds } from '@troupe/roster';
import { findShown, useTicket } from './access-store.ts';

export interface AccessDeps {
  db: Database;
  clock: Clock;
  sessionSecret: string;
  internalKey: string;
}

const PLATFORM: GatewayPrincipal = { id: 'platform', kind: 'owner' };

/**
 * Who shows this token to this agent: its owner by the gateway token or a ticket, a device while it is approved, the
 * platform itself by the internal key, a program of the owner's by an API key or by what the owner gave it, a running
 * member of its team by that one's own. Asked anew each time, so that what was revoked opens nothing.
 */
export function createAccess({ db, clock, sessionSecret, internalKey }: AccessDeps): Verify {
  return async (agentId, token, { socket, asModel = false, asClient = false, isOpen = false }) => {
    // Nobody can take it away, so nothing has to be asked.
    if (sameSecret(token, internalKey)) return PLATFORM;
    const hash = sha256Hex(token);
    const caller = memberOf(sessionSecret, token);
    const holder = holderOf(token);
    const now = clock();
    const row = await findShown(db.system, {
      agentId,
      hash,
      caller: caller?.agentId ?? null,
      generation: caller?.generation ?? 0,
      session: holder?.kind === 'session' ? holder.id : null,
      key: holder?.kind === 'key' ? holder.id : null,
      now,
    });
    if (!row) return undefined;
    const tokenHash = row.token_hash ?? '';
    if (tokenHash !== '' && sameSecret(hash, tokenHash)) return { id: `owner:${agentId}`, kind: 'owner' };
    if (holder) {
      const counts =
        socket &&
        row.held &&
        checkTicket(sessionSecret, { agentId, tokenHash }, token, isOpen ? undefined : now) &&
        (isOpen || (await useTicket(db.system, hash, ticketEnds(token), now)));
      return counts ? { id: `${holder.kind}:${holder.id}`, kind: 'owner' } : undefined;
    }
    if (row.key !== null && asModel) return { id: `key:${row.key}`, kind: 'key', origins: row.origins ?? [] };
    // A page may use it that has it.
    if (row.grant !== null && asClient) return { id: `key:${row.grant}`, kind: 'key', origins: ['*'] };
    if (row.device !== null) return { id: `device:${row.device}`, kind: 'device' };
    if (row.member !== null) return { id: `member:${row.member}`, kind: 'member' };
    return undefined;
  };
}
