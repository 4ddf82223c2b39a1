import { sql } from 'kysely';
import type { GatewayPrincipal } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { checkTicket, isTicket, teamToken } from '@troupe/fleet';
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
 * platform itself by the internal key, a member of its team by the team's. Asked anew each time, so that what was revoked opens nothing.
 */
export function createAccess({ db, clock, sessionSecret, internalKey }: AccessDeps) {
  return async (agentId: string, token: string): Promise<GatewayPrincipal | undefined> => {
    // Nobody can take it away, so nothing has to be asked.
    if (sameSecret(token, internalKey)) return PLATFORM;
    const hash = sha256Hex(token);
    const { rows } = await sql<{ token_hash: string | null; team_id: string | null; device: string | null }>`
      select a.token_hash, a.team_id, (select d.id from devices d where d.agent_id = a.id and d.user_id = a.user_id
        and d.status = 'approved' and d.token_hash = ${hash}) as device
      from agents a where a.id = ${agentId} and a.status = 'running'`.execute(db.system);
    const row = rows[0];
    if (!row) return undefined;
    const owner: GatewayPrincipal = { id: `owner:${agentId}`, kind: 'owner' };
    const tokenHash = row.token_hash ?? '';
    if (tokenHash !== '' && sameSecret(hash, tokenHash)) return owner;
    if (isTicket(token) && checkTicket(sessionSecret, { agentId, tokenHash }, token, clock())) return owner;
    if (row.device !== null) return { id: row.device, kind: 'device' };
    if (row.team_id !== null && sameSecret(token, teamToken(sessionSecret, row.team_id)))
      return { id: `team:${row.team_id}`, kind: 'device' };
    return undefined;
  };
}
