import pg from 'pg';

/** What the migrations call themselves, each for every new table. */
const OF_MIGRATIONS = new Set(['own_by_user', 'system_only', 'read_by_all', 'shared_by_two']);

/**
 * Functions that nothing calls and columns that no source names. By words, so that it finds only what is certainly dead:
 * a column with a common name can still be one that nobody reads.
 */
export async function findUnused(url: string, sources: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: functions } = await client.query<{ name: string; body: string; leaned_on: boolean; shapes: number }>(`
      select proname as name, prosrc as body, count(*) over (partition by proname)::int as shapes,
        exists (select from pg_depend where refclassid = 'pg_proc'::regclass and refobjid = pg_proc.oid) as leaned_on
      from pg_proc where pronamespace = 'public'::regnamespace`);
    const { rows: columns } = await client.query<{ owner: string; name: string }>(`
      select relname as owner, attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped`);
    const said = new Set(sources.match(/\w+/g));
    const bodies = functions.map(({ name, body }) => ({ name, words: new Set(body.match(/\w+/g)) }));
    const inside = (word: string): boolean => bodies.some(({ name, words }) => name !== word && words.has(word));
    const uncalled = functions.filter(
      ({ name, leaned_on: leanedOn }) => !leanedOn && !OF_MIGRATIONS.has(name) && !said.has(name) && !inside(name),
    );
    return [
      ...uncalled.map(({ name }) => `${name}(): nothing calls it`),
      ...functions.filter(({ shapes }) => shapes > 1).map(({ name }) => `${name}(): has more than one shape`),
      ...columns
        .filter(({ name }) => !said.has(name) && !inside(name))
        .map(({ owner, name }) => `${owner}.${name}: no source names it`),
    ].sort();
  } finally {
    await client.end();
  }
}
