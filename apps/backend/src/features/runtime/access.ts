import { sql } from 'kysely';
import type { GatewayPrincipal, Verify } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { sameSecret, sha256Hex, type Clock } from '@troupe/kernel';
import { checkTicket, holderOf, memberOf, ticketEnds } from '@troupe/roster';

export interface AccessDeps {
  db: Database;
  clock: Clock;
  sessionSecret: string;
  internalKey: string;
}

const PLATFORM: GatewayPrincipal = { id: 'platform', kind: 'owner' };

interface Found {
  token_hash: string | null;
  device: string | null;
  member: string | null;
  /** The API key of the agent's owner that was shown. */
  key: string | null;
  /** What the owner gave the program whose access token was shown. */
  grant: string | null;
  /** The session or key of the agent's owner that the ticket was made for is still there. */
  held: boolean;
}

/**
 * Who shows this token to this agent: its owner by the gateway token or a ticket, a device while it is approved, the
 * platform itself by the internal key, a program of the owner's that speaks to it as to a model by an API key or what the owner gave it, a running member of its team by that one's own. Asked anew each time, so that what
 * was revoked opens nothing.
 */
export function createAccess({ db, clock, sessionSecret, internalKey }: AccessDeps): Verify {
  return async (agentId, token, { socket, asModel = false, asClient = false, isOpen = false }) => {
    // Nobody can take it away, so nothing has to be asked.
    if (sameSecret(token, internalKey)) return PLATFORM;
    const hash = sha256Hex(token);
    const caller = memberOf(sessionSecret, token) ?? null;
    const holder = holderOf(token);
    const holderId = (kind: 'session' | 'key'): string | null => (holder?.kind === kind ? holder.id : null);
    const now = clock();
    const { rows } = await sql<Found>`
      select a.token_hash, (select d.id from devices d where d.agent_id = a.id and d.user_id = a.user_id
        and d.status = 'approved' and d.token_hash = ${hash}) as device,
        (select m.id from agents m where m.id = ${caller} and m.team_id = a.team_id and m.user_id = a.user_id
          and m.status = 'running') as member,
        (select k.id from api_keys k where k.key_hash = ${hash} and k.user_id = a.user_id) as key,
        (select g.id from client_tokens t join client_grants g on g.id = t.grant_id
          where t.hash = ${hash} and t.kind = 'access' and t.expires_at > ${now} and t.user_id = a.user_id
            and g.audience = a.id and t.scopes @> array['agents:read', 'agents:talk']) as grant,
        exists (select from sessions s where s.id = ${holderId('session')} and s.user_id = a.user_id and s.expires_at > ${now})
          or exists (select from api_keys k where k.id = ${holderId('key')} and k.user_id = a.user_id) as held
      from agents a where a.id = ${agentId} and a.status = 'running'`.execute(db.system);
    const row = rows[0];
    if (!row) return undefined;
    const tokenHash = row.token_hash ?? '';
    if (tokenHash !== '' && sameSecret(hash, tokenHash)) return { id: `owner:${agentId}`, kind: 'owner' };
    if (holder) {
      const counts =
        socket &&
        row.held &&
        checkTicket(sessionSecret, { agentId, tokenHash }, token, isOpen ? undefined : now) &&
        (isOpen || (await useTicket(db, hash, ticketEnds(token), now)));
      return counts ? { id: `${holder.kind}:${holder.id}`, kind: 'owner' } : undefined;
    }
    if (row.key !== null && asModel) return { id: `key:${row.key}`, kind: 'key' };
    if (row.grant !== null && asClient) return { id: `key:${row.grant}`, kind: 'key' };
    if (row.device !== null) return { id: `device:${row.device}`, kind: 'device' };
    if (row.member !== null) return { id: `member:${row.member}`, kind: 'member' };
    return undefined;
  };
}

/** False: it has opened something before, whichever process was asked. What could not open anything any more is forgotten. */
async function useTicket(db: Database, hash: string, ends: Date, now: Date): Promise<boolean> {
  const { rows } = await sql`
    with over as (
      delete from used_tickets where hash in (
        select hash from used_tickets where expires_at < ${now} limit 100 for update skip locked)
    )
    insert into used_tickets (hash, expires_at) values (${hash}, ${ends}) on conflict do nothing
    returning hash`.execute(db.system);
  return rows.length > 0;
}
