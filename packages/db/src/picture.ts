import pg from 'pg';

/** A line that says all about each thing in the schema: two databases are the same when their lines are. */
const PARTS: readonly string[] = [
  `select concat_ws(' ', 'relation', relname, relkind, relpersistence, 'guarded', relrowsecurity, 'forced', relforcerowsecurity,
     'options', reloptions, 'rights', pg_temp.rights(relacl), 'about', obj_description(oid, 'pg_class'))
   from pg_class where relnamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'column', relname, row_number() over (partition by c.oid order by attnum), attname,
     format_type(atttypid, atttypmod), 'required', attnotnull, 'identity', attidentity, 'generated', attgenerated,
     'is', pg_get_expr(adbin, adrelid), 'collation', nullif(attcollation, 0)::regcollation, 'storage', attstorage,
     'options', attoptions, 'rights', pg_temp.rights(attacl))
   from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped`,
  `select concat_ws(' ', 'constraint', conname, 'of', conrelid::regclass, pg_get_constraintdef(oid),
     'deferrable', condeferrable, condeferred, 'checked', convalidated)
   from pg_constraint where connamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), 'valid', indisvalid, 'primary', indisprimary)
   from pg_index join pg_class on pg_class.oid = indexrelid where relnamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'policy', tablename, policyname, permissive, cmd, 'to', roles, 'using', qual, 'check', with_check)
   from pg_policies where schemaname = 'public'`,
  `select concat_ws(' ', 'function', pg_get_functiondef(oid), 'rights', pg_temp.rights(proacl))
   from pg_proc where pronamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), 'enabled', tgenabled)
   from pg_trigger t join pg_class c on c.oid = tgrelid where relnamespace = 'public'::regnamespace and not tgisinternal`,
  `select concat_ws(' ', 'sequence', c.relname, format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcache,
     seqcycle, 'of', (select concat(refobjid::regclass, '.', attname) from pg_depend
       join pg_attribute on attrelid = refobjid and attnum = refobjsubid
       where objid = c.oid and deptype in ('a', 'i') and refobjsubid > 0))
   from pg_sequence join pg_class c on c.oid = seqrelid where relnamespace = 'public'::regnamespace`,
  `select concat_ws(' ', 'type', typname, typtype, 'labels',
     (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = t.oid))
   from pg_type t where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r', 'm')`,
  `select concat_ws(' ', 'view', viewname, definition) from pg_views where schemaname = 'public'`,
];

/** In one order, whatever the order in which they were given; the owner's name does not matter. */
const RIGHTS = `create or replace function pg_temp.rights(given aclitem[]) returns text language sql as $$
  select string_agg(item, ' ' order by item) from (
    select replace(one::text, current_user, 'owner') as item from unnest(given) as one) items $$`;

export async function pictureOf(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(RIGHTS);
    const { rows } = await client.query<{ line: string }>(
      `select line from (${PARTS.join('\nunion all\n')}) as everything (line) order by line collate "C"`,
    );
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
  }
}
