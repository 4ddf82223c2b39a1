import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '@troupe/kernel';

const ROLES = ['svc_user', 'svc_system'] as const;

const INSUFFICIENT_PRIVILEGE = '42501';
/** Roles are shared by all databases of a server, and another start may make them at the same moment. */
const MADE_BY_ANOTHER = ['42710', '23505'];
const CONCURRENTLY_UPDATED = 'XX000';

interface State {
  role: string;
  exists: boolean;
  /** Before PostgreSQL 16 every member may SET ROLE; since then it is a right of its own. */
  may_set: boolean;
  /** Every role may, unless the operator took it away. */
  may_use: boolean;
}

const LOOK = `select role, oid is not null as exists,
    coalesce(pg_has_role(current_user, oid,
      case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end), false) as may_set,
    coalesce(has_schema_privilege(oid, 'public', 'usage'), false) as may_use
  from unnest($1::text[]) as role left join pg_roles on rolname = role`;

/** At every start, not in a migration: a dump loaded into another server brings the tables, but no roles. */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const look = async (): Promise<State[]> => (await client.query<State>(LOOK, [ROLES])).rows;
  let states = await look();
  for (const { role } of states.filter(({ exists }) => !exists))
    await tolerate(client, `create role ${role} nologin noinherit`, MADE_BY_ANOTHER);
  if (states.some(({ exists }) => !exists)) states = await look();
  for (const { role, may_set: maySet, may_use: mayUse } of states) {
    if (!maySet) await tolerate(client, `grant ${role} to current_user`, []);
    if (!mayUse) await tolerate(client, `grant usage on schema public to ${role}`, []);
  }
}

async function tolerate(client: pg.Client, sql: string, codes: string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query(sql);
      return;
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      if (codes.includes(code)) return;
      if (code === INSUFFICIENT_PRIVILEGE) throw askForRoles(client.user ?? 'the login role', error);
      if (code !== CONCURRENTLY_UPDATED || tries >= 20) throw error;
      await delay(10 * tries);
    }
  }
}

function askForRoles(login: string, cause: unknown): StartError {
  return new StartError(
    `The database login "${login}" may not set up the roles that Troupe needs: run as a superuser ` +
      `\`create role svc_user nologin; create role svc_system nologin; grant svc_user, svc_system to "${login}";\` ` +
      '(without the roles that exist) and start again.',
    { cause },
  );
}
