import { sql } from 'kysely';
import type { GatewayPrincipal } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { checkTicket, isTicket, memberOf } from '@troupe/fleet';
import { sameSecret, sha256Hex, type Clock } from '@troupe/kernel';

export interface AccessDeps {
  db: Database;
  clock: Clock;
  sessionSecret: string;
  internalKey: string;
}

const PLATFORM: GatewayPrincipal = { id: 'platform', kind: 'owner' };

/**
 * Who shows this token to this agent: its owner by the gateway token or a ticket, a device while it is approved, the
 * platform itself by the internal key, a running member of its team by that one's own. Asked
 * anew each time, so that what was revoked opens nothing.
 */
export function createAccess({ db, clock, sessionSecret, internalKey }: AccessDeps) {
  return async (agentId: string, token: string): Promise<GatewayPrincipal | undefined> => {
    // Nobody can take it away, so nothing has to be asked.
    if (sameSecret(token, internalKey)) return PLATFORM;
    const hash = sha256Hex(token);
    const caller = memberOf(sessionSecret, token) ?? null;
    const { rows } = await sql<{ token_hash: string | null; device: string | null; member: string | null }>`
      select a.token_hash, (select d.id from devices d where d.agent_id = a.id and d.user_id = a.user_id
        and d.status = 'approved' and d.token_hash = ${hash}) as device,
        (select m.id from agents m where m.id = ${caller} and m.team_id = a.team_id and m.status = 'running') as member
      from agents a where a.id = ${agentId} and a.status = 'running'`.execute(db.system);
    const row = rows[0];
    if (!row) return undefined;
    const owner: GatewayPrincipal = { id: `owner:${agentId}`, kind: 'owner' };
    const tokenHash = row.token_hash ?? '';
    if (tokenHash !== '' && sameSecret(hash, tokenHash)) return owner;
    if (isTicket(token) && checkTicket(sessionSecret, { agentId, tokenHash }, token, clock())) return owner;
    if (row.device !== null) return { id: row.device, kind: 'device' };
    if (row.member !== null) return { id: `member:${row.member}`, kind: 'device' };
    return undefined;
  };
}
