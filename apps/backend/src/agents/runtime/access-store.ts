import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

interface Found {
  token_hash: string | null;
  device: string | null;
  member: string | null;
  /** The API key of the agent's owner that was shown. */
  key: string | null;
  /** Pages that may use that key. */
  origins: string[] | null;
  /** What the owner gave the program whose access token was shown. */
  grant: string | null;
  /** The session or key of the agent's owner that the ticket was made for is still there. */
  held: boolean;
}

interface Shown {
  agentId: string;
  /** Of the token that was shown. */
  hash: string;
  /** The member of a team that the token names. */
  caller: string | null;
  /** The one of its gateway tokens that this was given beside. */
  generation: number;
  /** The session, or the key, that a ticket was made for. */
  session: string | null;
  key: string | null;
  now: Date;
}

/** What the token could be for the running agent; undefined: there is no such agent. */
export async function findShown(
  tx: SystemTx,
  { agentId, hash, caller, generation, session, key, now }: Shown,
): Promise<Found | undefined> {
  const { rows } = await sql<Found>`
    select a.token_hash, (select d.id from devices d where d.agent_id = a.id and d.user_id = a.user_id
      and d.status = 'approved' and d.token_hash = ${hash}) as device,
      (select m.id from agents m where m.id = ${caller} and m.team_id = a.team_id and m.user_id = a.user_id
        and m.status = 'running' and m.token_generation = ${generation}) as member,
      (select k.id from api_keys k where k.key_hash = ${hash} and k.user_id = a.user_id) as key,
      (select k.origins from api_keys k where k.key_hash = ${hash} and k.user_id = a.user_id) as origins,
      (select g.id from client_tokens t join client_grants g on g.id = t.grant_id
        where t.hash = ${hash} and t.kind = 'access' and t.expires_at > ${now} and t.user_id = a.user_id
          and g.audience = a.id and t.scopes @> array['agents:read', 'agents:talk']) as grant,
      exists (select from sessions s where s.id = ${session} and s.user_id = a.user_id and s.expires_at > ${now})
        or exists (select from api_keys k where k.id = ${key} and k.user_id = a.user_id) as held
    from agents a where a.id = ${agentId} and a.status = 'running'`.execute(tx);
  return rows[0];
}

/** False: it has opened something before, whichever process was asked. What could not open anything any more is forgotten. */
export async function useTicket(tx: SystemTx, hash: string, ends: Date, now: Date): Promise<boolean> {
  const { rows } = await sql`
    with over as (
      delete from used_tickets where hash in (
        select hash from used_tickets where expires_at < ${now} limit 100 for update skip locked)
    )
    insert into used_tickets (hash, expires_at) values (${hash}, ${ends}) on conflict do nothing
    returning hash`.execute(tx);
  return rows.length > 0;
}
