import type { SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface ClientRow {
  id: string;
  name: string;
  redirect_uris: string[];
  refreshes: boolean;
  described: boolean;
  created_at: Date;
}

const CLIENT = ['id', 'name', 'redirect_uris', 'refreshes', 'described', 'created_at'] as const;

export const findClient = (tx: SystemTx, id: string): Promise<ClientRow | undefined> =>
  tx.selectFrom('oauth_clients').select(CLIENT).where('id', '=', id).executeTakeFirst();

/**
 * What was never let in by anybody is forgotten after a while, or when there are more than `most` of its kind; a few at a
 * time. Of those that are described by their address there are as many as somebody likes to name: they take no place from
 * those that registered.
 */
export async function forgetUnused(
  tx: SystemTx,
  { described, before, most }: { described: boolean; before: Date; most: number },
): Promise<void> {
  await sql`delete from oauth_clients where id in (
    select id from oauth_clients where used_at is null and described = ${described} and created_at < ${before}
    limit 200 for update skip locked)`.execute(tx);
  await sql`delete from oauth_clients where id in (
    select id from oauth_clients where used_at is null and described = ${described}
    order by created_at desc offset ${most} limit 200 for update skip locked)`.execute(tx);
}

/**
 * What was let in once and has not come for long is forgotten, with what it was given, of which nothing counts any more; a
 * few at a time.
 */
export async function forgetLeft(tx: SystemTx, { before, now }: Record<'before' | 'now', Date>): Promise<void> {
  await sql`with gone as (
      delete from oauth_clients where id in (
        select c.id from oauth_clients c where c.used_at < ${before} and not exists (
          select from client_grants g join client_tokens t on t.grant_id = g.id
          where g.client_id = c.id and t.expires_at > ${now})
        order by c.used_at limit 200 for update skip locked)
      returning id)
    delete from client_grants where client_id in (select id from gone)`.execute(tx);
}

export async function saveClient(tx: SystemTx, client: ClientRow): Promise<void> {
  const { name, redirect_uris, refreshes, created_at } = client;
  await tx
    .insertInto('oauth_clients')
    .values(client)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name, redirect_uris, refreshes, created_at }))
    .execute();
}

/** To the day: many people may use the same program at once, and none waits for another. */
export const useClient = (tx: SystemTx, id: string, at: Date) =>
  sql`update oauth_clients set used_at = ${at}
    where id = ${id} and (used_at is null or used_at < ${at}::timestamptz - interval '1 day')`.execute(tx);

export interface GrantRow {
  id: string;
  client_id: string;
  client_name: string;
  audience: string;
  scopes: string[];
  created_at: Date;
  used_at: Date | null;
}

export const listGrants = (tx: UserTx): Promise<(GrantRow & { agent: string | null })[]> =>
  tx
    .selectFrom('client_grants as g')
    .leftJoin('agents as a', 'a.id', 'g.audience')
    .select(['g.id', 'g.client_id', 'g.client_name', 'g.audience', 'g.scopes', 'g.created_at', 'g.used_at'])
    .select('a.name as agent')
    .orderBy('g.created_at', 'desc')
    .execute();

/** How many the user has; two at once wait for each other. */
export async function countGrants(tx: UserTx, userId: string): Promise<number> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute();
  const { count } = await tx
    .selectFrom('client_grants')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** One for each client and resource; given again, it has the new scopes, and nothing that was given before has more. */
export async function saveGrant(tx: UserTx, grant: Omit<GrantRow, 'used_at'> & { user_id: string }): Promise<string> {
  const { client_name, scopes } = grant;
  const { id } = await tx
    .insertInto('client_grants')
    .values(grant)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'client_id', 'audience']).doUpdateSet({ client_name, scopes }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`delete from client_tokens where grant_id = ${id} and not scopes <@ ${scopes}::text[]`.execute(tx);
  await sql`delete from client_codes where grant_id = ${id} and not scopes <@ ${scopes}::text[]`.execute(tx);
  return id;
}

export async function deleteGrant(tx: UserTx | SystemTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('client_grants').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface CodeRow {
  hash: string;
  user_id: string;
  grant_id: string;
  client_id: string;
  redirect_uri: string;
  challenge: string;
  scopes: string[];
  refreshes: boolean;
  expires_at: Date;
}

export const insertCode = (tx: UserTx, code: CodeRow) => tx.insertInto('client_codes').values(code).execute();

export const lockOwnerOfCode = (tx: SystemTx, hash: string) =>
  sql`select u.id from client_codes c join users u on u.id = c.user_id where c.hash = ${hash}
    for no key update of u`.execute(tx);

export const grantName = async (tx: SystemTx, id: string): Promise<string> =>
  (await tx.selectFrom('client_grants').select('client_name').where('id', '=', id).executeTakeFirstOrThrow())
    .client_name;

/** Whoever comes first has it; who comes again is told by `used_at` that somebody was before him. */
export async function takeCode(
  tx: SystemTx,
  hash: string,
  at: Date,
): Promise<(CodeRow & { again: boolean }) | undefined> {
  const { rows } = await sql<CodeRow & { again: boolean }>`
    with before as (select * from client_codes where hash = ${hash} for update)
    update client_codes c set used_at = coalesce(c.used_at, ${at}) from before where c.hash = before.hash
    returning before.hash, before.user_id, before.grant_id, before.client_id, before.redirect_uri, before.challenge,
      before.scopes, before.refreshes, before.expires_at, before.used_at is not null as again`.execute(tx);
  return rows[0];
}

export interface TokenRow {
  hash: string;
  user_id: string;
  grant_id: string;
  kind: 'access' | 'refresh';
  scopes: string[];
  created_at: Date;
  expires_at: Date;
}

export const insertTokens = (tx: SystemTx, tokens: readonly TokenRow[]) =>
  tx
    .insertInto('client_tokens')
    .values([...tokens])
    .execute();

export type FoundToken = TokenRow & { used_at: Date | null; client_id: string };

export const lockToken = (tx: SystemTx, hash: string): Promise<FoundToken | undefined> =>
  tx
    .selectFrom('client_tokens as t')
    .innerJoin('client_grants as g', 'g.id', 't.grant_id')
    .select([
      't.hash',
      't.user_id',
      't.grant_id',
      't.scopes',
      't.created_at',
      't.expires_at',
      't.used_at',
      'g.client_id',
    ])
    .select(sql<'access' | 'refresh'>`t.kind`.as('kind'))
    .where('t.hash', '=', hash)
    .forUpdate('t')
    .executeTakeFirst();

export const useToken = (tx: SystemTx, hash: string, at: Date) =>
  tx.updateTable('client_tokens').set({ used_at: at }).where('hash', '=', hash).execute();

export const deleteToken = (tx: SystemTx, hash: string) =>
  tx.deleteFrom('client_tokens').where('hash', '=', hash).execute();

/** Of one grant the newest access tokens and used refresh tokens stay; of everybody's, what is over goes, a few at a time. */
export async function tidy(
  tx: SystemTx,
  grantId: string,
  { access, used, now }: { access: number; used: number; now: Date },
): Promise<void> {
  await sql`delete from client_tokens where hash in (
    select hash from client_tokens where grant_id = ${grantId} and kind = 'access'
    order by created_at desc, hash offset ${access})`.execute(tx);
  await sql`delete from client_tokens where hash in (
    select hash from client_tokens where grant_id = ${grantId} and kind = 'refresh' and used_at is not null
    order by used_at desc, hash offset ${used})`.execute(tx);
  await sql`delete from client_tokens where hash in (
    select hash from client_tokens where expires_at < ${now} limit 100 for update skip locked)`.execute(tx);
  await sql`delete from client_codes where hash in (
    select hash from client_codes where expires_at < ${now} limit 100 for update skip locked)`.execute(tx);
}

export const agentName = async (tx: UserTx, id: string): Promise<string | undefined> =>
  (await tx.selectFrom('agents').select('name').where('id', '=', id).executeTakeFirst())?.name;
