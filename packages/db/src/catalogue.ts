import pg from 'pg';

/** What the catalogue says against the tables: a sentence for each way in which one user could reach another's rows. */
export async function findUnguarded(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ complaint: string }>(`
      with relations as (
        select oid, relname, relkind, reloptions, relrowsecurity and relforcerowsecurity as forced,
          has_table_privilege('svc_user', oid, 'select, insert, update, delete') as open_to_users,
          exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'user_id' and not attisdropped) as owned
        from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f') and not starts_with(relname, 'schema_')
      ), policies as (
        select polrelid, array(select rolname::text from pg_roles where oid = any(polroles)) as roles,
          0 = any(polroles) as for_public,
          coalesce(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid), '') as rule
        from pg_policy
      )
      select relname || ': row-level security is not forced' as complaint from relations
        where relkind in ('r', 'p') and not forced
      union all
      select relname || ': svc_user reaches it, and no policy compares with app_user_id()' from relations
        where relkind in ('r', 'p') and owned and open_to_users and not exists (
          select from policies where polrelid = relations.oid and 'svc_user' = any(roles) and rule like '%app_user_id()%')
      union all
      select relname || ': no policy lets svc_system in' from relations
        where relkind in ('r', 'p') and not exists (
          select from policies where polrelid = relations.oid and 'svc_system' = any(roles))
      union all
      select relname || ': a policy is open to every role' from relations
        where exists (select from policies where polrelid = relations.oid and for_public)
      union all
      select relname || ': a view needs security_invoker, or it shows every row' from relations
        where relkind = 'v' and open_to_users and not coalesce('security_invoker=true' = any(reloptions), false)
      union all
      select relname || ': rows of a materialized view cannot be guarded' from relations
        where relkind = 'm' and open_to_users
      order by 1`);
    return rows.map(({ complaint }) => complaint);
  } finally {
    await client.end();
  }
}
