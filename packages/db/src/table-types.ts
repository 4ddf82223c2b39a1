import pg from 'pg';

interface Column {
  table: string;
  column: string;
  type: string;
  array: boolean;
  labels: string[] | null;
  /** What the column's own CHECK constraints say of it. */
  checks: string[];
  nullable: boolean;
  hasDefault: boolean;
  always: boolean;
}

const TYPES: Record<string, string> = {
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  float4: 'number',
  float8: 'number',
  int8: 'Int8',
  numeric: 'Numeric',
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  uuid: 'string',
  inet: 'string',
  tsvector: 'string',
  date: 'string',
  timestamptz: 'Timestamp',
  bytea: 'Bytes',
  varbit: 'string',
  json: 'Json',
  jsonb: 'Json',
};

const HEADER = `// Written by \`npm run db:types\` from the migrations. Do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

type Int8 = ColumnType<bigint, bigint | number, bigint | number>;
type Numeric = ColumnType<string, string | number | bigint, string | number | bigint>;
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type Bytes = ColumnType<Buffer, Uint8Array, Uint8Array>;
/** An array has to be given as JSON text: the driver takes a bare one for an array of the database. */
type Json = ColumnType<unknown, string | Record<string, unknown>, string | Record<string, unknown>>;
type Nullable<T> = [T] extends [ColumnType<infer S, infer I, infer U>] ? ColumnType<S | null, I | null | undefined, U | null> : T | null;
type Default<T> = [T] extends [ColumnType<infer S, infer I, infer U>] ? ColumnType<S, I | undefined, U> : Generated<T>;
`;

/** The tables of a migrated database as the source of tables.gen.ts. */
export async function printTables(url: string): Promise<string> {
  const columns = await readColumns(url);
  const tables = Map.groupBy(columns, ({ table }) => table);
  const bodies = [...tables].map(
    ([table, list]) =>
      `  ${table}: {\n${list.map((column) => `    ${column.column}: ${typeOf(column)};\n`).join('')}  };\n`,
  );
  return `${HEADER}\nexport interface Tables {\n${bodies.join('')}}\n`;
}

/** `status in ('a', 'b')`, as the server says it: the only values that there can be. Null passes any check. */
const ONE_OF = /^\((?<column>"?\w+"?) = (?:ANY \(ARRAY\[(?<several>.+)\]\)|(?<one>'.+'::text))\)$/;

function valuesOf({ column, type, checks }: Column): string[] | null {
  if (type !== 'text') return null;
  for (const check of checks) {
    const { column: named, several, one } = ONE_OF.exec(check)?.groups ?? {};
    const list = several ?? one;
    if (list === undefined || named?.replaceAll('"', '') !== column) continue;
    const values = [...list.matchAll(/'((?:[^']|'')*)'::text/g)];
    // Anything else in the list is nothing that can be told in a type.
    if (values.map(([text]) => text).join(', ') !== list) continue;
    return values.map(([, value = '']) => value.replaceAll("''", "'"));
  }
  return null;
}

const literal = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function typeOf(given: Column): string {
  const { table, column, type, array, nullable, hasDefault, always } = given;
  const labels = given.labels ?? valuesOf(given);
  const base = labels ? labels.map(literal).join(' | ') : TYPES[type];
  if (!base) throw new Error(`${table}.${column}: add the type ${type} to table-types.ts`);
  if (array && !/^(string|number|boolean|')/.test(base)) throw new Error(`${table}.${column}: no arrays of ${type}`);
  const element = array ? `(${base})[]` : base;
  const optional = nullable ? `Nullable<${element}>` : element;
  if (always) return `GeneratedAlways<${type === 'int8' ? 'bigint' : optional}>`;
  return hasDefault ? `Default<${optional}>` : optional;
}

async function readColumns(url: string): Promise<Column[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Column>(`
      select c.relname as "table", a.attname as "column",
        coalesce(element.typname, t.typname) as type,
        element.oid is not null as array,
        (select array_agg(enumlabel::text order by enumsortorder) from pg_enum
          where enumtypid = coalesce(element.oid, t.oid)) as labels,
        array(select pg_get_expr(conbin, conrelid) from pg_constraint
          where conrelid = c.oid and contype = 'c' and convalidated and conkey = array[a.attnum] order by conname) as checks,
        not a.attnotnull as nullable,
        a.atthasdef or a.attidentity <> '' as "hasDefault",
        a.attidentity = 'a' or a.attgenerated <> '' as always
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid
      left join pg_type element on element.oid = t.typelem and t.typcategory = 'A'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
        and not c.relispartition and not starts_with(c.relname, 'schema_')
      order by c.relname collate "C", a.attname collate "C"`);
    return rows;
  } finally {
    await client.end();
  }
}
